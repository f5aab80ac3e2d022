import { parseNodeId } from "../../src/hadoop/yarn/ids.ts";
import type {
  ApplicationReport,
  ContainerReport,
  NodeId,
  NodeReport,
  NodeState,
  Resource,
} from "../../src/hadoop/yarn/records.ts";
import { sumOf, times } from "../../src/job/amounts.ts";
import { freeOf } from "./cluster-facts.ts";

/** Which resources of a cluster are free, where, and who holds the rest. */
export interface NodesOverview {
  readonly nodes: readonly NodeShare[];
  /** The nodes that run, by label; the nodes without a label first. */
  readonly labels: readonly LabelShare[];
  /** Applications of any user and type that hold containers; those with the most memory first. */
  readonly holders: readonly Holder[];
}

export interface NodeShare {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  readonly state: NodeState;
  /** Absent where it has none. */
  readonly label?: string;
  readonly total: Resource;
  readonly used: Resource;
  /** Room for new containers: nothing where the node does not run, or is being decommissioned. */
  readonly free: Resource;
  readonly containers: number;
  /** What a node that does not run reports. */
  readonly health?: string;
}

export interface LabelShare {
  readonly label?: string;
  readonly nodes: number;
  readonly total: Resource;
  readonly free: Resource;
}

export interface Holder {
  readonly applicationId: string;
  readonly user: string;
  readonly queue: string;
  readonly name: string;
  /** As YARN names it: `TONY`, `SPARK`. */
  readonly type: string;
  /** On all nodes together. */
  readonly used: Resource;
  readonly containers: number;
  /** The nodes that they are on, the one with the most first; absent where the caller may not see the application, or it was not asked. */
  readonly places?: readonly HolderPlace[];
}

export interface HolderPlace {
  readonly nodeId: string;
  readonly host: string;
  readonly containers: number;
}

/** The containers that applications hold, by application; an application that the caller may not see is missing. */
export type HeldContainers = ReadonlyMap<string, readonly ContainerReport[]>;

/** States of nodes that hold containers, or may again. */
export const shownStates: readonly NodeState[] = ["NEW", "RUNNING", "UNHEALTHY", "LOST", "REBOOTED", "DECOMMISSIONING"];

/** @param reports of the applications that have not ended */
export function nodesOverview(
  nodes: readonly NodeReport[],
  reports: readonly ApplicationReport[],
  held: HeldContainers,
): NodesOverview {
  const shares = nodes.map(shareOf).sort(byLabelAndHost);
  return { nodes: shares, labels: labelShares(shares), holders: holdersOf(reports, held) };
}

/** The applications that hold containers; those with the most memory first. */
export function holding(reports: readonly ApplicationReport[]): readonly ApplicationReport[] {
  const memoryMiB = ({ usage }: ApplicationReport) => usage?.used.memoryMiB ?? 0;
  return reports
    .filter(({ usage }) => (usage?.usedContainers ?? 0) > 0)
    .sort((one, other) => memoryMiB(other) - memoryMiB(one));
}

function shareOf(node: NodeReport): NodeShare {
  const { nodeId, host, rack, state, labels, capability: total, used, containerCount: containers, healthReport } = node;
  const [label = ""] = labels;
  return {
    nodeId,
    host,
    rack,
    state,
    ...(label === "" ? {} : { label }),
    total,
    used,
    free: state === "RUNNING" ? freeOf(node) : times(0, total),
    containers,
    ...(state === "RUNNING" || healthReport === "" ? {} : { health: healthReport }),
  };
}

function labelShares(shares: readonly NodeShare[]): LabelShare[] {
  const running = shares.filter(({ state }) => state === "RUNNING");
  return [...new Set(running.map(({ label }) => label))].map((label) => {
    const own = running.filter((share) => share.label === label);
    return {
      ...(label === undefined ? {} : { label }),
      nodes: own.length,
      total: sumOf(own.map(({ total }) => total)),
      free: sumOf(own.map(({ free }) => free)),
    };
  });
}

function holdersOf(reports: readonly ApplicationReport[], held: HeldContainers): Holder[] {
  return holding(reports).flatMap(({ id, user, queue, name, type, usage }) => {
    if (usage === undefined) return [];
    const known = held.get(id);
    const places = known === undefined ? {} : { places: placesOf(known) };
    return [
      { applicationId: id, user, queue, name, type, used: usage.used, containers: usage.usedContainers, ...places },
    ];
  });
}

function placesOf(containers: readonly ContainerReport[]): HolderPlace[] {
  const counts = new Map<NodeId, number>();
  for (const { nodeId } of containers) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  const places = Array.from(counts, ([nodeId, count]) => ({
    nodeId,
    host: parseNodeId(nodeId).host,
    containers: count,
  }));
  return places.sort((one, other) => other.containers - one.containers || byHost(one, other));
}

function byLabelAndHost(a: NodeShare, b: NodeShare): number {
  return (a.label ?? "").localeCompare(b.label ?? "") || byHost(a, b);
}

function byHost(a: { readonly host: string }, b: { readonly host: string }): number {
  return a.host.localeCompare(b.host, "en", { numeric: true });
}
