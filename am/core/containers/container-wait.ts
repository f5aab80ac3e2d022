import { constraintKey } from "../../../src/job/constraint-key.ts";
import { roomFor } from "../../../src/job/fits.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import { amountWords, countedWords, settingOf } from "../../../src/job/reasons/words.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { WaitFacts } from "../../../src/job/wait.ts";
import type { NodeView } from "../state/events.ts";
import type { CoreState } from "../state/state.ts";
import { roleOf } from "../state/step.ts";
import { excludedHosts, isKeptOff } from "./kept-off.ts";
import { labelFits } from "./placement.ts";
import { countedPart } from "./room.ts";
import { placeOf, settingsOf, unmeetable } from "./unmeetable.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
}

/** Why so many containers of a role do not come, and what would bring them. */
export function containerWait(job: Job, position: number, missing: number): Omit<WaitFacts, "sinceMs"> {
  const role = roleOf(job, { role: position });
  const { name, instances, resource } = role;
  const reason = { code: "containers", role: name, missing, instances, ask: amountWords(resource) } as const;
  const never = unmeetable(job, position);
  if (never !== undefined) {
    return { reason, delays: [never.delay], fix: never.fix };
  }
  const usable = usableNodes(job, role);
  const refused = refusedDelays(job, position);
  const places = refused.length > 0 ? refused : placeDelays(job, role, missing, usable);
  const delays = [...places, ...constraintDelays(job, role), ...keptOffDelays(job, role)];
  if (usable.length === 0 || refused.length > 0) {
    return { reason, delays };
  }
  const settings = settingsOf(job, role, ["instances", "memory"]);
  return { reason, delays, fix: { code: "lower-ask", settings, orWait: true } };
}

/** Those that its containers may be given on. */
function usableNodes(job: Job, { nodeLabel }: RoleSpec): NodeView[] {
  return Object.values(job.state.nodes).filter(
    (node) => node.usable && labelFits(node, nodeLabel) && !isKeptOff(job, node.host),
  );
}

/** What is asked against what the last heartbeat left in the queue; of what is free on nodes YARN tells nothing new. */
function placeDelays(
  { spec, state: { headroom, counted, nodes } }: Job,
  role: RoleSpec,
  count: number,
  usable: readonly NodeView[],
): DelayReason[] {
  if (usable.length === 0) {
    return Object.keys(nodes).length === 0 ? [] : [{ code: "no-usable-node", ...placeOf(role) }];
  }
  const room = headroom === undefined ? count : roomFor(countedPart(role.resource, counted), headroom);
  if (headroom !== undefined && room < count) {
    return [{ code: "queue-full", queue: spec.queue, left: countedWords(headroom, counted), room }];
  }
  return [{ code: "nodes-full", ...placeOf(role), nodes: usable.length }];
}

/** Containers of its size are refused until a node comes that is large enough. */
function refusedDelays({ state: { asks } }: Job, position: number): DelayReason[] {
  const { refusal, outstanding = 0 } = asks[position] ?? {};
  // Until a container comes: that they are looked for once more is no news.
  if (refusal?.unplaced) {
    return [{ code: "no-place" }];
  }
  if (refusal === undefined || outstanding > 0) {
    return [];
  }
  const { allowed } = refusal;
  return [{ code: "size-refused", ...(allowed === undefined ? {} : { largest: amountWords(allowed) }) }];
}

/** YARN does not say whether it is the constraint that none of its nodes meets. */
function constraintDelays({ spec }: Job, { name, constrained }: RoleSpec): DelayReason[] {
  if (constrained?.constraint === undefined) {
    return [];
  }
  const key = constraintKey(name, (one) => spec.sources[one] !== undefined);
  return [{ code: "place-constrained", setting: settingOf(spec, key) }];
}

function keptOffDelays(job: Job, { nodeLabel }: RoleSpec): DelayReason[] {
  const reached = new Set(
    Object.values(job.state.nodes)
      .filter((node) => labelFits(node, nodeLabel))
      .map(({ host }) => host),
  );
  const excluded = excludedHosts(job).filter((host) => reached.has(host));
  const leaving = Object.keys(job.state.leaving).filter((host) => reached.has(host));
  return [
    ...(excluded.length === 0 ? [] : [{ code: "nodes-excluded", hosts: excluded } as const]),
    ...(leaving.length === 0 ? [] : [{ code: "nodes-leaving", hosts: leaving } as const]),
  ];
}
