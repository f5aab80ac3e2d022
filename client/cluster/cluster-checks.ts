import type { QueueInfo } from "../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../src/job/cluster-nodes.ts";
import { fits } from "../../src/job/fits.ts";
import { nearest } from "../../src/job/nearest.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import { amountWords, listWords, nodeWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { constraintProblems } from "./constraint-checks.ts";
import { gangProblems } from "./gang-checks.ts";
import { type Asked, type SizeFacts, sizeProblems } from "./size-checks.ts";

/** What the ResourceManager says about itself, as far as a job can contradict it. */
export interface ClusterFacts extends SizeFacts {
  /** The job's queue; absent when there is none of that name. */
  readonly queue?: QueueInfo;
  /** All leaf queues, by name; needed only when the job's queue cannot take the job. */
  readonly leafQueues: readonly string[];
  /** The scheduler creates queues or chooses them by rules of its own: only it knows which it accepts. */
  readonly queuesAreOpen: boolean;
  readonly nodeLabels: readonly string[];
  /** Absent where the job has no placement constraint, or the cluster has no attributes. */
  readonly nodeAttributes?: readonly string[];
  /** The cluster has other nodes, which may come back. */
  readonly nodesAreAway: boolean;
  /** Nodes that do not run and whose label no running node has. */
  readonly awayNodes: readonly NodeSnapshot[];
}

/** The queue of a job that names none. */
const defaultQueue = "default";

/**
 * What this cluster would refuse or never grant. It is said before anything is uploaded, because YARN finds some of it only after the
 * submission has succeeded (an unknown queue) and some never (it drops an unknown resource type silently). A request that other nodes, or
 * rules that only the ResourceManager knows, may still make possible gets a warning.
 */
export function checkAgainstCluster(spec: JobSpec, facts: ClusterFacts): Problem[] {
  const asked = [askedByMaster(spec, facts), ...spec.roles.map(askedByRole)];
  const single = asked.flatMap((ask) => askProblems(spec, ask, facts));
  return [
    ...queueProblems(spec, facts),
    ...single,
    ...constraintProblems(spec, facts),
    // A role whose single container fits on no node needs no count.
    ...(single.length === 0 ? gangProblems(spec, facts) : []),
  ];
}

/** The job with the label that its queue gives to requests without one (SchedulerUtils#normalizeNodeLabelExpressionInRequest). */
export function withQueueLabel(spec: JobSpec, queue: QueueInfo | undefined): JobSpec {
  const nodeLabel = queue?.defaultNodeLabel ?? "";
  if (nodeLabel === "") return spec;
  return { ...spec, roles: spec.roles.map((role) => ({ nodeLabel, ...role })) };
}

/** An AM's container is placed on nodes of its own partition alone (RegularContainerAllocator). */
function askedByMaster({ am }: JobSpec, { queue }: ClusterFacts): Asked {
  const nodeLabel = am.nodeLabel ?? queue?.defaultNodeLabel ?? "";
  return { what: "the AM", prefix: "tony.am", resource: am.resource, nodeLabel, keepsToItsPartition: true };
}

function askedByRole(role: JobSpec["roles"][number]): Asked {
  const { name, resource, nodeLabel } = role;
  return { what: `a ${name}`, prefix: `tony.${name}`, resource, ...(nodeLabel === undefined ? {} : { nodeLabel }) };
}

function askProblems(spec: JobSpec, ask: Asked, facts: ClusterFacts): Problem[] {
  const away = awayProblems(spec, ask, facts);
  const sizes = sizeProblems(spec, ask, facts);
  // Warnings about sizes are about the nodes that run.
  const lasting = away.length === 0 ? sizes : sizes.filter(({ severity }) => severity === "error");
  const found = [...lasting, ...labelProblems(spec, ask, facts), ...away];
  return found.length > 0 ? found : nodeProblems(spec, ask, facts);
}

/**
 * Warnings: the scheduler may create the queue at submission, or choose another, by mapping rules that the ResourceManager does
 * not show (org.apache.hadoop.yarn.server.resourcemanager.placement.CSMappingPlacementRule). Says nothing where that is usual.
 */
function queueProblems(spec: JobSpec, { queue, leafQueues, queuesAreOpen }: ClusterFacts): Problem[] {
  const mayBeMade = queue === undefined && (spec.queue === defaultQueue || spec.queue.includes("."));
  if (queuesAreOpen || mayBeMade) return [];
  const key = "tony.yarn.queue";
  const warn = (message: string) => [
    keyProblem(
      "warning",
      spec,
      key,
      `${message} (${key}); YARN refuses the job, unless rules of its own make or choose a queue`,
    ),
  ];
  const all = `the queues are ${leafQueues.join(", ")}`;
  if (queue === undefined) {
    const near = nearest(spec.queue, leafQueues);
    const meant = near === undefined ? "" : `did you mean ${near}? `;
    return warn(`there is no queue ${spec.queue}: ${meant}${all}`);
  }
  if (queue.children.length > 0) {
    const children = queue.children.map(({ name }) => name).join(", ");
    return warn(`queue ${spec.queue} takes no applications itself: choose one of ${children}`);
  }
  if (queue.state !== "RUNNING") {
    const state = queue.state === "STOPPED" ? "is stopped" : "is being drained";
    return warn(`queue ${spec.queue} ${state} and takes no new applications: ${all}`);
  }
  return [];
}

/** Warns when no node with the label runs. */
function awayProblems(spec: JobSpec, { what, prefix, nodeLabel = "" }: Asked, facts: ClusterFacts): Problem[] {
  const away = facts.awayNodes.filter(({ labels }) => labels.includes(nodeLabel));
  if (away.length === 0) return [];
  const key = labelKey(spec, prefix);
  const states = listWords(away.map(nodeWords), 4);
  const text = `${what} asks for nodes with label ${nodeLabel}, and none runs: ${states}`;
  return [keyProblem("warning", spec, key, `${text}; the job waits for one (${key})`)];
}

function labelKey({ sources }: JobSpec, prefix: string): string {
  const own = `${prefix}.node-label`;
  return sources[own] === undefined ? "tony.application.node-label" : own;
}

function labelProblems(spec: JobSpec, { what, prefix, nodeLabel }: Asked, facts: ClusterFacts): Problem[] {
  if (nodeLabel === undefined || nodeLabel === "") return [];
  const key = labelKey(spec, prefix);
  if (!facts.nodeLabels.includes(nodeLabel)) {
    const known = facts.nodeLabels.length === 0 ? "the cluster has none" : `there are ${facts.nodeLabels.join(", ")}`;
    return [
      keyProblem(
        "error",
        spec,
        key,
        `${what} asks for nodes with label ${nodeLabel}, which does not exist: ${known} (${key})`,
      ),
    ];
  }
  const accessible = facts.queue?.accessibleNodeLabels ?? [];
  if (facts.queue === undefined || accessible.includes("*") || accessible.includes(nodeLabel)) return [];
  const reach = accessible.filter((label) => label !== "").join(", ");
  const may = reach === "" ? "nodes without a label only" : reach;
  const text = `${what} asks for nodes with label ${nodeLabel}, but queue ${spec.queue} reaches ${may}`;
  return [keyProblem("error", spec, key, `${text}: choose another queue (tony.yarn.queue) or label (${key})`)];
}

/**
 * The largest container that YARN reports combines the largest memory, the most cores and so on of all nodes: no single node, or none
 * with the label, may have all of it. Says nothing when a node is away, which might have it, nor about a request without a label that
 * exceeds all nodes.
 */
function nodeProblems(spec: JobSpec, ask: Asked, facts: ClusterFacts): Problem[] {
  const { what, prefix, resource, nodeLabel = "", keepsToItsPartition = false } = ask;
  const nodes = facts.nodes.filter(({ labels }) => {
    return nodeLabel === "" ? !keepsToItsPartition || labels.length === 0 : labels.includes(nodeLabel);
  });
  const totals = nodes.flatMap(({ total }) => total ?? []);
  if (facts.nodesAreAway || nodes.length === 0 || totals.length < nodes.length) return [];
  // Only the registered ApplicationMaster knows whether the scheduler counts cores.
  if (totals.some((total) => fits({ ...resource, vcores: 0 }, total))) return [];
  const place =
    nodeLabel !== "" ? `with label ${nodeLabel} ` : nodes.length < facts.nodes.length ? "without a label " : "";
  const sizes = [...new Set(totals.map(amountWords))].slice(0, 3).join("; ");
  const text = `${what} asks for ${amountWords(resource)}, which no node ${place}has in all: they have ${sizes}`;
  return [
    keyProblem(
      "warning",
      spec,
      `${prefix}.memory`,
      `${text}: the job waits for one, unless you lower what ${prefix}.* asks for`,
    ),
  ];
}
