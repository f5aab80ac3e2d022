import { roomFor } from "../../../src/job/fits.ts";
import type { Resource, RoleSpec } from "../../../src/job/spec.ts";
import type { CountedResources, NodeView } from "../state/events.ts";
import { inJob, roleOf, type Step } from "../state/step.ts";
import { isKeptOff } from "./kept-off.ts";

export interface Hints {
  readonly hosts: { readonly host: string; readonly count: number }[];
  readonly racks: { readonly rack: string; readonly count: number }[];
}

interface Candidate {
  readonly node: NodeView;
  readonly free: { memoryMiB: number; vcores: number; others: Record<string, number> };
}

/**
 * Where to ask for containers. CapacityScheduler gives one container per node heartbeat for an ask that names no host, and all at once for
 * one that does (per-node-heartbeat.maximum-offswitch-assignments = 1; measured: 7 containers in 0.5 s instead of 6.5 s). Hosts are named
 * only where that matters, that is when more containers are wanted than there are nodes, and only hosts that had room when last seen: naming
 * a full host costs time. When the free room seen is too little in all, every host that could hold such containers is named. `*` always
 * carries the whole number, so a wrong guess can only be slow, never stuck. To pack or spread a role, only the named hosts are asked for at
 * first: YARN gives containers elsewhere as soon as it has passed over the ask as often as there are nodes, which in a small cluster is at
 * once (RegularContainerAllocator#canAssign). Where a role's placement is constrained, YARN alone chooses its nodes.
 */
export function placeGang(
  step: Step,
  wants: readonly { readonly position: number; readonly count: number }[],
): Map<number, Hints> {
  const hints = new Map<number, Hints>();
  const candidates = usableNodes(step);
  const total = wants.reduce((sum, want) => sum + want.count, 0);
  for (const { position, count } of wants) {
    const role = roleOf(step, { role: position });
    const ask = countedPart(role.resource, step.state.counted);
    const labelled = candidates.filter(({ node }) => mayName(node, role));
    const named = role.placement === "any" ? total > labelled.length : true;
    if (count === 0 || !named || role.constrained !== undefined || step.state.asks[position]?.hintsExhausted === true) {
      continue;
    }
    const held = role.placement === "any" ? new Map<string, number>() : heldByHost(step, position);
    const roomsIn = (amountOf: (candidate: Candidate) => Resource) =>
      labelled
        .map((candidate) => ({
          candidate,
          room: Math.min(count, roomFor(ask, amountOf(candidate))),
          held: held.get(candidate.node.host) ?? 0,
        }))
        .filter(({ room }) => room > 0);
    const lastFree = roomsIn(({ free }) => free);
    const fits = lastFree.reduce((sum, { room }) => sum + room, 0) >= count;
    // Free room was seen at the submission: another job may have ended since, and if none has, this one waits anyway.
    const rooms = fits || role.placement !== "any" ? lastFree : roomsIn(({ node, free }) => node.total ?? free);
    hints.set(position, toHints(CHOICES[role.placement](rooms, count), count, ask));
  }
  return hints;
}

/** A host, how many more containers of a role it has room for or is to be given, and how many it has. */
interface Room {
  readonly candidate: Candidate;
  readonly room: number;
  readonly held: number;
}

const CHOICES: Readonly<Record<RoleSpec["placement"], (rooms: readonly Room[], count: number) => Room[]>> = {
  any: share,
  pack,
  spread,
};

/** What the role already has, where part of it is asked for again. */
function heldByHost(step: Step, position: number): Map<string, number> {
  const held = new Map<string, number>();
  for (const { role, phase, host } of Object.values(step.state.containers)) {
    if (inJob(step, role) === position && phase === "held") {
      held.set(host, (held.get(host) ?? 0) + 1);
    }
  }
  return held;
}

/** As few hosts as hold the count: first those that already have some, then the roomiest. */
function pack(rooms: readonly Room[], count: number): Room[] {
  const chosen: Room[] = [];
  let left = count;
  for (const host of rooms.toSorted((a, b) => b.held - a.held || b.room - a.room)) {
    if (left <= 0) {
      break;
    }
    chosen.push({ ...host, room: Math.min(host.room, left) });
    left -= host.room;
  }
  return chosen;
}

/**
 * Gives each next container to a host that has the fewest, and to no other: the ResourceManager fills the named hosts in the order of their
 * heartbeats, so counts with slack would leave some hosts empty. Where all that is left is one more container for some of those hosts, any of
 * them will do.
 */
function spread(rooms: readonly Room[], count: number): Room[] {
  const hosts = rooms.map((host) => ({ ...host, given: 0 }));
  let left = count;
  for (let level = 0; left > 0 && hosts.some(({ given, room }) => given < room); level++) {
    const next = hosts.filter(({ held, given, room }) => held + given === level && given < room);
    if (left === count && next.length > count) {
      return next.slice(0, 2 * count).map((host) => ({ ...host, room: 1 }));
    }
    for (const host of next.slice(0, left)) {
      host.given++;
      left--;
    }
  }
  return hosts.filter(({ given }) => given > 0).map((host) => ({ ...host, room: host.given }));
}

/** An equal share for every host that has room, over at most twice as many hosts as containers. */
function share(rooms: readonly Room[], count: number): Room[] {
  const hosts = rooms.slice(0, 2 * count);
  const each = Math.ceil(count / hosts.length);
  return hosts.map((host) => ({ ...host, room: Math.min(host.room, each) }));
}

function toHints(chosen: readonly Room[], count: number, resource: Resource): Hints {
  const racks = new Set<string>();
  const hosts = chosen.map(({ candidate, room }) => {
    racks.add(candidate.node.rack);
    take(candidate, resource, room);
    return { host: candidate.node.host, count: room };
  });
  return { hosts, racks: [...racks].map((rack) => ({ rack, count })) };
}

function usableNodes(step: Step): Candidate[] {
  return Object.values(step.state.nodes)
    .filter((node) => node.usable && node.free !== undefined && !isKeptOff(step, node.host))
    .map((node) => ({ node, free: { memoryMiB: 0, vcores: 0, ...node.free, others: { ...node.free?.others } } }));
}

/**
 * YARN gives a node whose label is not exclusive to other asks only after it has passed over an ask as often as there are nodes
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.allocator.RegularContainerAllocator#preCheckForNodeCandidateSet). That
 * wait is worth it to spread a role, but not to be quick.
 */
function mayName(node: NodeView, { nodeLabel, placement }: RoleSpec): boolean {
  const servesItsLabelFirst = node.nonExclusive === true && !node.labels.includes(nodeLabel ?? "");
  return labelFits(node, nodeLabel) && (placement === "spread" || !servesItsLabelFirst);
}

/**
 * A node without a label serves asks without one; a labelled node serves asks that name its label, and all others if the label is not
 * exclusive.
 */
export function labelFits(node: NodeView, label: string | undefined): boolean {
  const named = label !== undefined && label !== "";
  return named ? node.labels.includes(label) : node.labels.length === 0 || node.nonExclusive === true;
}

function take({ free }: Candidate, resource: Resource, containers: number): void {
  free.memoryMiB -= containers * resource.memoryMiB;
  free.vcores -= containers * resource.vcores;
  for (const [type, amount] of Object.entries(resource.others)) {
    free.others[type] = (free.others[type] ?? 0) - containers * amount;
  }
}

/** The part of an ask that the scheduler weighs against a node or a queue. It gives out the rest, cores above all, beyond what a node has. */
export function countedPart(ask: Resource, counted: CountedResources): Resource {
  if (counted === "all") return ask;
  return { memoryMiB: ask.memoryMiB, vcores: 0, others: counted === "memory" ? {} : ask.others };
}
