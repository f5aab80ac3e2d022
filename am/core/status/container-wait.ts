import { amountWords, countedWords, countWords, keyWords, listWords } from "../../../src/job/reasons/words.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { Wait } from "../../../src/job/status.ts";
import { labelFits } from "../containers/placement.ts";
import { countedPart, roomFor } from "../containers/room.ts";
import type { NodeView } from "../state/events.ts";
import type { CoreState } from "../state/state.ts";
import { roleOf } from "../state/step.ts";
import { placeWords, unmeetable } from "./unmeetable.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
}

/** Why so many containers of a role do not come, and what would bring them. */
export function containerWait(job: Job, position: number, count: number): Omit<Wait, "sinceMs"> {
  const role = roleOf(job, { role: position });
  const containers = role.instances === 1 ? "1 container" : `${count} of ${role.instances} containers`;
  const cause = `containers of ${role.name}`;
  const what = `${containers} of ${role.name}: ${amountWords(role.resource)}`;
  const never = unmeetable(job, position);
  if (never !== undefined) {
    const reasons = [`this cannot be met by waiting, unless nodes join: ${never.reason}`];
    return { cause, what, reasons, remedy: never.remedy };
  }
  const usable = usableNodes(job, role);
  const refused = refusedReasons(job, position);
  const places = refused.length > 0 ? refused : placeReasons(job, role, count, usable);
  const reasons = [...places, ...excludedReasons(job, role)];
  const helps = usable.length > 0 && refused.length === 0;
  return { cause, what, reasons, ...(helps ? { remedy: remedyFor(job, role) } : {}) };
}

/** Those that its containers may be given on. */
function usableNodes({ state }: Job, { nodeLabel }: RoleSpec): NodeView[] {
  return Object.values(state.nodes).filter(
    (node) => node.usable && labelFits(node, nodeLabel) && state.blame[node.host]?.excluded !== true,
  );
}

/** What is asked against what the last heartbeat left in the queue; of what is free on nodes YARN tells nothing new. */
function placeReasons(
  { spec, state: { headroom, counted, nodes } }: Job,
  role: RoleSpec,
  count: number,
  usable: readonly NodeView[],
): string[] {
  if (usable.length === 0) {
    return Object.keys(nodes).length === 0 ? [] : [`${placeWords(role)} has no usable node`];
  }
  const room = headroom === undefined ? count : roomFor(countedPart(role.resource, counted), headroom);
  if (headroom !== undefined && room < count) {
    const left = `queue ${spec.queue} has only ${countedWords(headroom, counted)} left for this job`;
    return [`${left}, room for ${room === 0 ? "none" : room} of them`];
  }
  const nodeWords = countWords(usable.length, "usable node");
  return [`the queue has room for them; the ${nodeWords} of ${placeWords(role)} must have it too`];
}

/** Containers of its size are refused until a node comes that is large enough. */
function refusedReasons({ state: { asks } }: Job, position: number): string[] {
  const refusal = asks[position]?.refusal;
  if (refusal === undefined) {
    return [];
  }
  const largest = refusal.allowed === undefined ? "" : `: the largest has ${amountWords(refusal.allowed)}`;
  return [`YARN gives none as large with the nodes that are registered now${largest}`];
}

function excludedReasons({ state: { blame, nodes } }: Job, { nodeLabel }: RoleSpec): string[] {
  const reached = new Set(
    Object.values(nodes)
      .filter((node) => labelFits(node, nodeLabel))
      .map(({ host }) => host),
  );
  const excluded = Object.keys(blame).filter((host) => blame[host]?.excluded && reached.has(host));
  return excluded.length === 0 ? [] : [`kept off after failures: ${listWords(excluded)}`];
}

function remedyFor(job: Job, role: RoleSpec): string {
  const keys = [`tony.${role.name}.instances`, `tony.${role.name}.memory`].map((key) => keyWords(job, key));
  return `lower ${keys.join(" or ")}, or wait for other jobs to end`;
}
