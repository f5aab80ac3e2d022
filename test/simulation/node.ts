/** Which of a node's connections are cut. */
export interface Cut {
  /** To the ResourceManager, to HDFS and all others. */
  readonly whole?: true;
  /** Its NodeManager stands still as well. */
  readonly unmanaged?: true;
  /** What the ApplicationMaster sends to it is lost. */
  readonly inward: boolean;
  /** What it sends to the ApplicationMaster is lost. */
  readonly outward: boolean;
}

export interface ModelNode {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  /** Exclusive; empty while it has none. */
  readonly label: string;
  readonly capacityMiB: number;
  usedMiB: number;
  alive: boolean;
  /** It is being taken out of the cluster, so long after that began. */
  leaving: { readonly timeoutMs: number } | undefined;
  cut: Cut | undefined;
  /** By how much its clock is ahead. */
  skewMs: number;
  /** What its NodeManager takes beyond the usual for each order. */
  slowMs: number;
  /** Its NodeManager is not there: containers run on, and nobody hears of them. */
  isUnmanaged: boolean;
  /** When its NodeManager reports within each heartbeat's time. */
  readonly phaseMs: number;
  tickScheduled: boolean;
}

/** Connections to it stand: that takes both directions. */
export function isReachable({ cut }: ModelNode): boolean {
  return cut === undefined || !(cut.inward || cut.outward);
}

/** What is neither the ApplicationMaster nor on the node itself, as HDFS. */
export function reachesOthers({ cut }: ModelNode): boolean {
  return cut?.whole !== true;
}

/** What YARN orders is done there. */
export function obeysYarn({ cut }: ModelNode): boolean {
  return cut?.whole !== true && cut?.unmanaged !== true;
}

/** The ResourceManager hears of it. */
export function reports(node: ModelNode): boolean {
  return node.alive && obeysYarn(node) && !node.isUnmanaged;
}
