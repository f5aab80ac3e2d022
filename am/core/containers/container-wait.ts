import { constraintKey } from "../../../src/job/constraint-key.ts";
import { roomFor } from "../../../src/job/fits.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import { amountWords, nodeWords, settingOf } from "../../../src/job/reasons/words.ts";
import { amountOfKinds, kindsOf, roomOfKind } from "../../../src/job/resource-kinds.ts";
import type { JobSpec, RoleSpec } from "../../../src/job/spec.ts";
import type { WaitFacts } from "../../../src/job/wait.ts";
import { isOfTasks } from "../policies/trials.ts";
import type { NodeView } from "../state/events.ts";
import type { CoreState } from "../state/state.ts";
import { inJob, roleOf } from "../state/step.ts";
import { excludedHosts, isGone, isKeptOff } from "./kept-off.ts";
import { countedPart, labelFits } from "./placement.ts";
import { lowerAsk, placeOf, settingsOf, unmeetable } from "./unmeetable.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
  readonly nowMs: number;
}

/** For this long after a container came, more may follow. */
const COMING_MS = 30_000;

/** Why this many containers of a role do not come, and what would bring them; only what is proven. */
export function containerWait(job: Job, position: number, missing: number): Omit<WaitFacts, "sinceMs"> {
  const role = roleOf(job, { role: position });
  const { name, resource } = role;
  const instances = isOfTasks(job) ? atOnce(job.spec, role) : role.instances;
  const kinds = kindsOf(countedPart(resource, job.state.counted));
  const settings = settingsOf(job, role, kinds, true);
  const reason = { code: "containers", role: name, missing, instances, ask: amountWords(resource), settings } as const;
  const never = unmeetable(job, position);
  if (never !== undefined) {
    return { reason, delays: [never.delay], ...withFix(never.fix) };
  }
  const usable = usableNodes(job, role);
  const refused = refusedDelays(job, position);
  const isLeft = refused.length === 0 && usable.length > 0;
  const short = isLeft ? shortInQueue(job, role, missing, usable) : undefined;
  const places = short?.delay ?? (isLeft ? placeDelay(role, usable) : noNodeDelay(job, role, usable));
  const delays = [
    ...refused,
    ...(places === undefined ? [] : [places]),
    ...constraintDelays(job, role),
    ...keptOffDelays(job, role),
  ];
  return { reason, delays, ...withFix(short?.fix) };
}

/** In a search the tasks are its trials, and only few of them run at once. */
function atOnce({ search }: JobSpec, { instances }: RoleSpec): number {
  return Math.min(instances, search?.maxParallel ?? instances);
}

function withFix(fix: Remedy | undefined): { readonly fix?: Remedy } {
  return fix === undefined ? {} : { fix };
}

/** Nodes on which its containers may be given. */
function usableNodes(job: Job, { nodeLabel }: RoleSpec): NodeView[] {
  return Object.values(job.state.nodes).filter(
    (node) => node.usable && labelFits(node, nodeLabel) && !isKeptOff(job, node.host),
  );
}

/**
 * The kinds of resource of which the last heartbeat left too little for this job, in its queue and on the nodes that the headroom counts. For
 * a queue beyond its share the headroom is one smallest container, however many more are given
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.UsersManager#computeUserLimit).
 */
function shortInQueue(job: Job, role: RoleSpec, count: number, usable: readonly NodeView[]) {
  const { spec, state, nowMs } = job;
  const { headroom, containers } = state;
  const areComing = Object.values(containers).some(({ allocatedAtMs }) => nowMs - allocatedAtMs < COMING_MS);
  if (headroom === undefined || areComing || !isHeadroomOf(spec, role, usable)) {
    return undefined;
  }
  const ask = countedPart(role.resource, state.counted);
  const kinds = kindsOf(ask);
  const short = kinds.filter((kind) => roomOfKind(kind, ask, headroom) < count);
  if (short.length === 0) {
    return undefined;
  }
  const room = roomFor(ask, headroom);
  const left = amountOfKinds(kinds, headroom);
  return {
    delay: { code: "queue-full", queue: spec.queue, left, room, short: short.map(({ name }) => name) },
    fix: lowerAsk(job, role, short, room > 0),
  } as const;
}

/**
 * Whether the headroom that the ResourceManager reports applies to this role. It is that of one partition: of the label that is asked for, or
 * of the nodes without a label, although nodes with a shared label serve these asks, too. Where several labels are asked for it is the sum
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.CapacityHeadroomProvider).
 */
function isHeadroomOf({ roles }: JobSpec, { nodeLabel = "" }: RoleSpec, usable: readonly NodeView[]): boolean {
  const isAlone = roles.every((role) => role.inMaster === true || (role.nodeLabel ?? "") === nodeLabel);
  return isAlone && (nodeLabel !== "" || usable.every(({ labels }) => labels.length === 0));
}

function placeDelay(role: RoleSpec, usable: readonly NodeView[]): DelayReason {
  return { code: "not-given", ...placeOf(role), nodes: usable.length };
}

function noNodeDelay({ state: { nodes } }: Job, role: RoleSpec, usable: readonly NodeView[]): DelayReason | undefined {
  const all = Object.values(nodes);
  if (usable.length > 0 || all.length === 0) return undefined;
  // Nodes that are leaving the cluster are reported in any case.
  const isAway = (node: NodeView) => node.state !== undefined && (isGone(node) || node.decommissioning === undefined);
  const away = all.filter((node) => labelFits(node, role.nodeLabel) && isAway(node)).map(nodeWords);
  return { code: "no-usable-node", ...placeOf(role), ...(away.length > 0 && { away }) };
}

/** Containers of its size are refused until a node comes that is large enough. */
function refusedDelays(job: Job, position: number): DelayReason[] {
  const { refusal, outstanding = 0 } = job.state.asks[inJob(job, position)] ?? {};
  // Stays until a container comes: asking once more is no news.
  if (refusal?.unplaced) {
    return [{ code: "no-place" }];
  }
  if (refusal === undefined || outstanding > 0) {
    return [];
  }
  const { allowed } = refusal;
  return [{ code: "size-refused", ...(allowed === undefined ? {} : { largest: amountWords(allowed) }) }];
}

/** YARN does not say whether the constraint is the reason that no node serves the ask. */
function constraintDelays({ spec }: Job, { name, constrained }: RoleSpec): DelayReason[] {
  if (constrained?.constraint === undefined) {
    return [];
  }
  const key = constraintKey(name, (one) => spec.sources[one] !== undefined);
  return [{ code: "place-constrained", setting: settingOf(spec, key) }];
}

function keptOffDelays(job: Job, { nodeLabel }: RoleSpec): DelayReason[] {
  const nodes = Object.values(job.state.nodes).filter((node) => labelFits(node, nodeLabel));
  const reached = new Set(nodes.map(({ host }) => host));
  const excluded = excludedHosts(job).filter((host) => reached.has(host));
  const there = new Set(nodes.flatMap((node) => (isGone(node) ? [] : [node.host])));
  const leaving = Object.keys(job.state.leaving).filter((host) => there.has(host));
  return [
    ...(excluded.length === 0 ? [] : [{ code: "nodes-excluded", hosts: excluded } as const]),
    ...(leaving.length === 0 ? [] : [{ code: "nodes-leaving", hosts: leaving } as const]),
  ];
}
