import type { Resource } from "../../src/hadoop/yarn/records.ts";
import { subtract } from "../../src/job/amounts.ts";
import { roomFor } from "../../src/job/fits.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import { amountWords, countWords, memoryWords } from "../../src/job/reasons/words.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { leastInstances } from "../../src/job/spec.ts";
import { stagesOf } from "../../src/job/stages.ts";
import type { SizeFacts } from "./size-checks.ts";

type Node = SizeFacts["nodes"][number] & { readonly total: Resource };

const remedy = (role: string) =>
  `a gang starts when all are there, so the job waits for more nodes, unless you lower tony.${role}.instances or what it asks for`;

/**
 * Warnings where the tasks that start together exceed what all nodes have room for, even if nothing else ran on them. Nodes may be added,
 * so it is no error; each single task is known to fit.
 * @param nodesAreAway other nodes may come back: nothing is said then
 */
export function gangProblems(
  spec: JobSpec,
  { nodes, nodesAreAway }: Pick<SizeFacts, "nodes"> & { readonly nodesAreAway: boolean },
): Problem[] {
  const known = nodes.filter((node): node is Node => node.total !== undefined);
  if (spec.distributedMode !== "gang" || nodesAreAway || known.length === 0 || known.length < nodes.length) return [];
  const inContainers = spec.roles.filter(({ inMaster }) => inMaster !== true);
  const tooMany = inContainers.flatMap((role) => roleProblems(spec, role, known));
  return tooMany.length > 0
    ? tooMany
    : stagesOf(inContainers).flatMap((stage) => stageProblems(spec, stage.roles, known));
}

function roleProblems(spec: JobSpec, role: RoleSpec, nodes: readonly Node[]): Problem[] {
  const { name, resource, nodeLabel = "" } = role;
  const least = leastInstances(role);
  const labelled = nodeLabel === "" ? nodes : nodes.filter(({ labels }) => labels.includes(nodeLabel));
  // Only the registered ApplicationMaster knows whether the scheduler counts cores.
  const ask = { ...resource, vcores: 0 };
  const cost = costOfMaster(spec, ask, nodes, labelled);
  const room = labelled.reduce((sum, { total }) => sum + roomFor(ask, total), 0) - cost;
  if (room === 0 || least <= room) return [];
  const place = `${countWords(labelled.length, "node")}${nodeLabel === "" ? "" : ` with label ${nodeLabel}`}`;
  const text = `${least} of ${name} ask for ${amountWords(resource)} each, and the cluster's ${place} ${has(labelled)} room for ${room} ${cost > 0 ? "beside the AM" : "when empty"}`;
  return [keyProblem("warning", spec, `tony.${name}.instances`, `${text}: ${remedy(name)}`)];
}

function has({ length }: readonly Node[]): string {
  return length === 1 ? "has" : "have";
}

/** How many of these containers the AM's container displaces: none where a node has enough left over for it. */
function costOfMaster({ am }: JobSpec, ask: Resource, nodes: readonly Node[], labelled: readonly Node[]): number {
  const { nodeLabel = "" } = am;
  const may = nodes.filter(({ labels }) => (nodeLabel === "" ? labels.length === 0 : labels.includes(nodeLabel)));
  const costs = may.map((node) =>
    labelled.includes(node) ? roomFor(ask, node.total) - roomFor(ask, subtract(node.total, am.resource)) : 0,
  );
  return costs.length === 0 ? 0 : Math.min(...costs);
}

function stageProblems(spec: JobSpec, names: readonly string[], nodes: readonly Node[]): Problem[] {
  const roles = spec.roles.filter(({ name }) => names.includes(name));
  const askedMiB = (role: RoleSpec) => leastInstances(role) * role.resource.memoryMiB;
  const wantedMiB = roles.reduce((sum, role) => sum + askedMiB(role), spec.am.resource.memoryMiB);
  const thereMiB = nodes.reduce((sum, { total }) => sum + total.memoryMiB, 0);
  const largest = roles.toSorted((a, b) => askedMiB(b) - askedMiB(a))[0]?.name;
  if (wantedMiB <= thereMiB || largest === undefined) return [];
  const text = `the AM and ${names.join(", ")} ask for ${memoryWords(wantedMiB)} in all, and the cluster's ${countWords(nodes.length, "node")} ${has(nodes)} ${memoryWords(thereMiB)}`;
  return [keyProblem("warning", spec, `tony.${largest}.instances`, `${text}: ${remedy(largest)}`)];
}
