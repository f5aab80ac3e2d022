import type { ApplicationReport, NodeReport, NodeState, Resource } from "../../src/hadoop/yarn/records.ts";
import { freeOf } from "./cluster-facts.ts";

/** What of a cluster is free, where, and who holds the rest. */
export interface NodesOverview {
  readonly nodes: readonly NodeShare[];
  /** Of the nodes that run, by label; the nodes without one first. */
  readonly labels: readonly LabelShare[];
  /** Applications of any user and type that hold containers, those with the most memory first. */
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
  /** For new containers: nothing where it does not run, or is leaving. */
  readonly free: Resource;
  readonly containers: number;
  /** What a node that does not run says of itself. */
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
  /** On all nodes together: YARN does not tell on which. */
  readonly used: Resource;
  readonly containers: number;
}

/** Nodes that hold containers, or may again. */
export const shownStates: readonly NodeState[] = ["NEW", "RUNNING", "UNHEALTHY", "LOST", "REBOOTED", "DECOMMISSIONING"];

/** @param reports of the applications that have not ended */
export function nodesOverview(nodes: readonly NodeReport[], reports: readonly ApplicationReport[]): NodesOverview {
  const shares = nodes.map(shareOf).sort(byLabelAndHost);
  return { nodes: shares, labels: labelShares(shares), holders: holdersOf(reports) };
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
    free: state === "RUNNING" ? freeOf(node) : scaled(total, 0),
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
      total: sum(own.map(({ total }) => total)),
      free: sum(own.map(({ free }) => free)),
    };
  });
}

function holdersOf(reports: readonly ApplicationReport[]): Holder[] {
  const holders = reports.flatMap(({ id, user, queue, name, type, usage }) =>
    usage === undefined || usage.usedContainers <= 0
      ? []
      : [{ applicationId: id, user, queue, name, type, used: usage.used, containers: usage.usedContainers }],
  );
  return holders.sort((a, b) => b.used.memoryMiB - a.used.memoryMiB);
}

function byLabelAndHost(a: NodeShare, b: NodeShare): number {
  return (a.label ?? "").localeCompare(b.label ?? "") || a.host.localeCompare(b.host, "en", { numeric: true });
}

function sum(amounts: readonly Resource[]): Resource {
  const types = [...new Set(amounts.flatMap(({ others }) => Object.keys(others)))];
  const total = (of: (amount: Resource) => number) => amounts.reduce((all, amount) => all + of(amount), 0);
  return {
    memoryMiB: total(({ memoryMiB }) => memoryMiB),
    vcores: total(({ vcores }) => vcores),
    others: Object.fromEntries(types.map((type) => [type, total(({ others }) => others[type] ?? 0)])),
  };
}

function scaled({ memoryMiB, vcores, others }: Resource, factor: number): Resource {
  const all = Object.entries(others).map(([type, count]) => [type, count * factor] as const);
  return { memoryMiB: memoryMiB * factor, vcores: vcores * factor, others: Object.fromEntries(all) };
}
