import { subtract } from "../../../src/job/amounts.ts";
import { roomFor } from "../../../src/job/fits.ts";
import type { Setting } from "../../../src/job/reasons/facts.ts";
import type { Remedy } from "../../../src/job/reasons/remedies.ts";
import type { DelayReason } from "../../../src/job/reasons/waits.ts";
import { amountWords, countedWords, settingOf } from "../../../src/job/reasons/words.ts";
import { canBeLowered, kindsOf, type ResourceKind, roomOfKind } from "../../../src/job/resource-kinds.ts";
import { type JobSpec, leastInstances, type Resource, type RoleSpec } from "../../../src/job/spec.ts";
import { isOfTasks } from "../policies/trials.ts";
import type { NodeView } from "../state/events.ts";
import type { CoreState } from "../state/state.ts";
import { gangOf, roleOf, rolesOf } from "../state/step.ts";
import { isGone } from "./kept-off.ts";
import { countedPart, labelFits } from "./placement.ts";

interface Job {
  readonly spec: JobSpec;
  readonly state: CoreState;
}

/** An ask that no other job's end can meet, and what would. */
export interface Unmeetable {
  readonly delay: DelayReason;
  /** Undefined: nothing of the job can be lowered. */
  readonly fix: Remedy | undefined;
  /** A single container could be had: only all of them together could not. */
  readonly ofGang: boolean;
}

type Sized = NodeView & { readonly total: Resource };

/** The number of node sizes that are named at most. */
const MOST_SIZES = 3;

/**
 * Whether a role's containers could not all be had even if nothing else ran on the cluster: a container is larger than every node in
 * its reach, or a gang wants more in all than those nodes have. Undefined while a node's size is not known. What is free or usable at
 * present plays no part, except for nodes that were taken out of the cluster.
 * @param among the nodes that count; all of the cluster by default
 */
export function unmeetable(
  job: Job,
  position: number,
  among: readonly NodeView[] = Object.values(job.state.nodes),
): Unmeetable | undefined {
  const role = roleOf(job, { role: position });
  const nodes = among.filter((node) => labelFits(node, role.nodeLabel));
  if (nodes.length === 0) {
    return among.length === 0 ? undefined : nowhere(job, role);
  }
  const there = nodes.filter((node) => !isGone(node));
  const sized = there.filter((node): node is Sized => node.total !== undefined);
  if (sized.length === 0 || sized.length < there.length) {
    return undefined;
  }
  const totals = sized.map(({ total }) => total);
  return tooLarge(job, role, totals) ?? tooMany(job, position, sized);
}

/** Every node is reserved by its label for other asks, or no node has this label. */
function nowhere(job: Job, role: RoleSpec): Unmeetable {
  const { label } = placeOf(role);
  const delay: DelayReason = label === undefined ? { code: "nodes-labelled" } : { code: "label-missing", label };
  const fix = { code: "set-label", setting: settingOf(job.spec, `tony.${role.name}.node-label`) } as const;
  return { delay, fix, ofGang: false };
}

function tooLarge(job: Job, role: RoleSpec, totals: readonly Resource[]): Unmeetable | undefined {
  const kinds = kindsOf(countedPart(role.resource, job.state.counted));
  if (totals.some((total) => kinds.every(({ of }) => of(role.resource) <= of(total)))) {
    return undefined;
  }
  const missing = (total: Resource) => kinds.filter(({ of }) => of(role.resource) > of(total));
  const everywhere = kinds.filter((kind) => totals.every((total) => missing(total).includes(kind)));
  const somewhere = kinds.filter((kind) => totals.some((total) => missing(total).includes(kind)));
  const sizes = [...new Set(totals.map((total) => countedWords(total, job.state.counted)))]
    .slice(0, MOST_SIZES)
    .join("; ");
  return {
    delay: { code: "container-too-large", ...placeOf(role), sizes },
    fix: lowerAsk(job, role, everywhere.length > 0 ? everywhere : somewhere, false),
    ofGang: false,
  };
}

function tooMany(job: Job, position: number, nodes: readonly Sized[]): Unmeetable | undefined {
  if (job.spec.distributedMode !== "gang") {
    return undefined;
  }
  const role = roleOf(job, { role: position });
  const own = masterOn(nodes);
  const wanted = [...wantedTogether(job, position), ...(own === undefined ? [] : [own.resource])];
  const totals = nodes.map(({ total }) => total);
  const ask = countedPart(role.resource, job.state.counted);
  const short = kindsOf(ask).find(({ of }) => sum(wanted, of) > sum(totals, of));
  if (short !== undefined) {
    const { of, words } = short;
    const amounts = { has: words(sum(totals, of)), asked: words(sum(wanted, of)) };
    const delay = { code: "gang-too-large", ...placeOf(role), ...amounts, ...masterPart(own, short) } as const;
    return { delay, fix: lowerAsk(job, role, [short], true), ofGang: true };
  }
  const over = overQueue(wanted, nodes, kindsOf(ask));
  if (over !== undefined) {
    const { of, words } = over;
    const amounts = { has: words(mostOfQueue(nodes, of)), asked: words(sum(wanted, of)), ...masterPart(own, over) };
    const delay = { code: "gang-over-queue", queue: job.spec.queue, ...placeOf(role), ...amounts } as const;
    return { delay, fix: lowerAsk(job, role, [over], true), ofGang: true };
  }
  const room = sum(nodes, (node) => roomFor(ask, node === own?.node ? subtract(node.total, own.resource) : node.total));
  const least = stillWanted(job, position);
  if (room >= least) {
    return undefined;
  }
  const withMaster = own === undefined ? {} : { master: amountWords(own.resource) };
  const delay = { code: "gang-too-many", ...placeOf(role), room, asked: least, ...withMaster } as const;
  return { delay, fix: lowerAsk(job, role, limitingKinds(ask, totals), true), ofGang: true };
}

/** The kinds of resource that limit how many containers fit on some node: lowering any other kind makes no room. */
function limitingKinds(ask: Resource, totals: readonly Resource[]): ResourceKind[] {
  return kindsOf(ask).filter((kind) => totals.some((total) => roomOfKind(kind, ask, total) === roomFor(ask, total)));
}

/** What the AM takes of this kind, if anything. */
function masterPart(
  own: { readonly resource: Resource } | undefined,
  { of, words }: ResourceKind,
): { readonly master?: string } {
  return own !== undefined && of(own.resource) > 0 ? { master: words(of(own.resource)) } : {};
}

/** The kind of resource of which the job's queue may never have enough for the job, including its AM. */
function overQueue(
  wanted: readonly Resource[],
  nodes: readonly Sized[],
  kinds: readonly ResourceKind[],
): ResourceKind | undefined {
  if (nodes.every(({ queueShare }) => queueShare === undefined)) return undefined;
  return kinds.find(({ of }) => sum(wanted, of) > mostOfQueue(nodes, of));
}

/** Shares are whole amounts that were divided: half a unit is never missing. */
function mostOfQueue(nodes: readonly Sized[], of: (resource: Resource) => number): number {
  return Math.round(sum(nodes, ({ total, queueShare }) => of(total) * (queueShare === undefined ? 1 : of(queueShare))));
}

/** What the AM's own container takes on one of these nodes; undefined where it is on none, or that is not certain. */
function masterOn(nodes: readonly Sized[]) {
  const there = nodes.flatMap((node) => (node.master === undefined ? [] : [{ node, resource: node.master }]));
  return there.length === 1 ? there[0] : undefined;
}

/**
 * All containers that the role's gang holds together on the nodes of its label; an ask without a label may share nodes with any other.
 */
function wantedTogether(job: Job, position: number): Resource[] {
  const { nodeLabel = "" } = roleOf(job, { role: position });
  return rolesOf(job, gangOf(job, { role: position })).flatMap(([ofGang]) => {
    const role = roleOf(job, { role: ofGang });
    if (role.inMaster === true || (nodeLabel !== "" && role.nodeLabel !== nodeLabel)) {
      return [];
    }
    const { resource } = role;
    return Array.from({ length: stillWanted(job, ofGang) }, () => resource);
  });
}

/** How many containers a role's gang holds of it together: tasks that have ended need none. */
function stillWanted(job: Job, position: number): number {
  const { succeeded = 0, failed = 0, stopped = 0 } = job.state.roles[position]?.counts ?? {};
  // In a search the next trial takes all of them again.
  const over = job.spec.trials === undefined ? succeeded + failed + stopped : 0;
  return Math.max(0, leastInstances(roleOf(job, { role: position })) - over);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** The label that its nodes have; none where they may have any. */
export function placeOf({ nodeLabel = "" }: RoleSpec): { readonly label?: string } {
  return nodeLabel === "" ? {} : { label: nodeLabel };
}

/** What can be lowered in a role's ask: never its only task, nor a task's only core or GPU. Undefined: nothing. */
export function lowerAsk(
  job: Job,
  role: RoleSpec,
  kinds: readonly ResourceKind[],
  orInstances: boolean,
): Remedy | undefined {
  const some = kinds.filter((kind) => canBeLowered(kind, role.resource));
  const settings = settingsOf(job, role, some, orInstances && leastInstances(role) > 1);
  return settings.length === 0 ? undefined : { code: "lower-ask", settings, orWait: false };
}

/** The keys that set how much of these kinds and how many containers a role asks for, each with the place where it is set. */
export function settingsOf(
  { spec }: Job,
  { name }: RoleSpec,
  kinds: readonly ResourceKind[],
  withInstances: boolean,
): Setting[] {
  const keys = kinds.map((kind) => kind.keys.find((key) => `tony.${name}.${key}` in spec.sources) ?? kind.keys[0]);
  const many = isOfTasks({ spec }) ? "tony.search.max-parallel" : `tony.${name}.instances`;
  const ofOne = keys.map((key) => `tony.${name}.${key}`);
  return [...(withInstances ? [many] : []), ...ofOne].map((key) => settingOf(spec, key));
}
