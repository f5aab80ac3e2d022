import type { ApplicationReport, NodeReport, Resource } from "../../src/hadoop/yarn/records.ts";
import { roomFor } from "../../src/job/fits.ts";
import type { Setting } from "../../src/job/reasons/facts.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { amountOfKinds, canBeLowered, kindsOf, type ResourceKind, roomOfKind } from "../../src/job/resource-kinds.ts";
import type { JobStatus, RoleStatus, Wait } from "../../src/job/status.ts";
import { waitOf } from "../../src/job/wait.ts";
import { freeOf } from "../cluster/cluster-facts.ts";

/** What the ResourceManager says about the cluster at one moment. */
export interface ClusterUse {
  /** The nodes that run. */
  readonly nodes: readonly NodeReport[];
  /** Labels whose nodes also serve requests without a label. */
  readonly sharedLabels: readonly string[];
  /** The running applications that the caller may see. */
  readonly applications: readonly ApplicationReport[];
}

/** The reasons that an AM gives with its own knowledge alone: replaced once more is known. */
const vague: ReadonlySet<string> = new Set(["not-given", "queue-full"]);

/** The status, with which resources the cluster lacks for the missing containers, and who holds them. */
export function withShortages(status: JobStatus, use: ClusterUse): JobStatus {
  return { ...status, waits: status.waits.map((wait) => withShortage(status, wait, use)) };
}

/** Whether the reasons of this wait can be made more precise. */
export function isVague({ reason, delays }: Wait): boolean {
  return reason.code === "containers" && delays.some(({ code }) => vague.has(code));
}

function withShortage(status: JobStatus, wait: Wait, use: ClusterUse): Wait {
  const { reason, delays } = wait;
  if (reason.code !== "containers" || !isVague(wait)) return wait;
  const role = status.roles.find(({ name }) => name === reason.role);
  const found = role && shortageOf(status.applicationId, role, reason, use);
  if (found === undefined) return wait;
  const explained = delays.filter((delay) => !vague.has(delay.code) || saysMore(delay, found.short));
  const fix = { code: "lower-ask", settings: found.settings, orWait: found.isHeld } as const;
  const facts = { reason, delays: [...found.delays, ...explained], sinceMs: wait.sinceMs, endsAtMs: wait.endsAtMs };
  return waitOf(found.settings.length === 0 && !found.isHeld ? facts : { ...facts, fix });
}

/** Whether the queue also lacks a resource that the nodes have. */
function saysMore(delay: DelayReason, short: readonly string[]): boolean {
  return delay.code === "queue-full" && delay.short.some((kind) => !short.includes(kind));
}

/** Undefined where the nodes have room for all missing containers. */
function shortageOf(
  id: string,
  role: RoleStatus,
  { missing, settings = [] }: { readonly missing: number; readonly settings?: readonly Setting[] },
  use: ClusterUse,
) {
  const counts = (kind: ResourceKind) => settings.length === 0 || keyOf(settings, role, kind) !== undefined;
  const kinds = kindsOf(role).filter(counts);
  const ask = part(role, kinds);
  const reached = use.nodes.filter((node) => mayRun(node, role.nodeLabel, use.sharedLabels));
  // Free memory on a node without GPUs is of no use to a request for one. Where no node is large enough, all of them count.
  const large = reached.filter(({ capability }) => kinds.every(({ of }) => of(ask) <= of(capability)));
  const may = large.length === 0 ? reached : large;
  const free = may.map((node) => ({ host: node.host, amount: freeOf(node) }));
  const room = sum(free, ({ amount }) => roomFor(ask, amount));
  if (may.length === 0 || room >= missing) return undefined;
  const short = kinds.filter((kind) => sum(free, ({ amount }) => roomOfKind(kind, ask, amount)) < missing);
  const named = free.toSorted((one, other) => roomFor(ask, other.amount) - roomFor(ask, one.amount));
  const label = role.nodeLabel === undefined || role.nodeLabel === "" ? {} : { label: role.nodeLabel };
  const held = short.map((kind) => heldBy(id, kind, may, use));
  const lower = (short.length === 0 ? kinds : short).filter((kind) => canBeLowered(kind, role));
  const isMany = room > 0 && role.instances > 1;
  const many = [`tony.${role.name}.instances`, "tony.search.max-parallel"];
  const instances = settings.filter(({ key }) => isMany && many.includes(key));
  return {
    short: short.map(({ name }) => name),
    delays: [
      {
        code: "nodes-short",
        ...label,
        nodes: may.length,
        room,
        short: short.map(({ name }) => name),
        free: named.map(({ host, amount }) => `${host} ${amountOfKinds(kinds, amount)}`),
      } as const,
      ...held.flatMap(({ delay }) => delay),
    ],
    settings: [...instances, ...lower.flatMap((kind) => keyOf(settings, role, kind) ?? [])],
    isHeld: held.some(({ byOthers }) => byOthers),
  };
}

/** Who holds the scarce resource: applications that the ResourceManager reports, and the use that these do not account for. */
function heldBy(id: string, kind: ResourceKind, may: readonly NodeReport[], { nodes, applications }: ClusterUse) {
  const everywhere = nodes.some((node) => !may.includes(node) && kind.of(node.used) > 0);
  const inUse = sum(nodes, ({ used }) => kind.of(used));
  const holders = applications
    .map((application) => ({ application, amount: kind.of(application.usage?.used ?? nothing) }))
    .filter(({ amount }) => amount > 0)
    .sort((one, other) => other.amount - one.amount);
  const others = holders.filter(({ application }) => application.id !== id);
  const own = holders.find(({ application }) => application.id === id)?.amount ?? 0;
  const unseen = inUse - sum(holders, ({ amount }) => amount);
  const facts = {
    kind: kind.name,
    ...(own > 0 ? { own: kind.words(own) } : {}),
    holders: others.map(
      ({ application: { id: other, user, name, queue }, amount }) =>
        `${other} (${name} of ${user} in queue ${queue.slice(queue.lastIndexOf(".") + 1)}: ${kind.words(amount)})`,
    ),
    ...(unseen > 0 ? { unseen: kind.words(unseen) } : {}),
    everywhere,
  };
  const isTold = own > 0 || others.length > 0 || unseen > 0;
  return { byOthers: others.length > 0 || unseen > 0, delay: isTold ? [{ code: "held-by", ...facts } as const] : [] };
}

const nothing: Resource = { memoryMiB: 0, vcores: 0, others: {} };

/** A node without a label serves requests without one; so does a node whose label is shared. */
function mayRun({ labels }: NodeReport, label = "", shared: readonly string[]): boolean {
  return label === "" ? labels.every((one) => shared.includes(one)) : labels.includes(label);
}

function keyOf(settings: readonly Setting[], { name }: RoleStatus, kind: ResourceKind): Setting | undefined {
  const keys = kind.keys.map((key) => `tony.${name}.${key}`);
  return settings.find(({ key }) => keys.includes(key));
}

/** The kinds of a request that are counted. */
function part({ memoryMiB, vcores, others }: RoleStatus, kinds: readonly ResourceKind[]): Resource {
  const has = (name: string) => kinds.some((kind) => kind.name === name);
  return {
    memoryMiB: has("memory") ? memoryMiB : 0,
    vcores: has("cores") ? vcores : 0,
    others: kinds.some(({ name }) => name !== "memory" && name !== "cores") ? others : {},
  };
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
