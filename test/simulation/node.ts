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
  /** It was cut off together with this attempt of the ApplicationMaster, which alone it reaches. */
  readonly beside?: number;
  /** This attempt was cut off, which alone it does not reach. */
  readonly apartFrom?: number;
}

export interface ModelNode {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  /** Exclusive; empty while it has none. */
  readonly label: string;
  capacityMiB: number;
  usedMiB: number;
  /** The ResourceManager counts on it. */
  alive: boolean;
  /** The machine is off, for good. */
  hasCrashed: boolean;
  /** It is being taken out of the cluster, so long after that began. */
  leaving: { readonly timeoutMs: number } | undefined;
  cut: Cut | undefined;
  /** By how much its clock is ahead. */
  skewMs: number;
  /** What its NodeManager takes beyond the usual for each order. */
  slowMs: number;
  /** What it was ordered while it was slow is done by then; 0: it never was. */
  slowUntilMs: number;
  /** Its NodeManager is not there: containers run on, and nobody hears of them. */
  isUnmanaged: boolean;
  /** When its NodeManager was last back; 0: it was never away. */
  managedAgainAtMs: number;
  /** When its NodeManager reports within each heartbeat's time. */
  readonly phaseMs: number;
  tickScheduled: boolean;
}

/** Connections of an attempt of the ApplicationMaster to it stand: that takes both directions. */
export function isReachable(node: ModelNode, attempt: number): boolean {
  return !isLost(node, "inward", attempt) && !isLost(node, "outward", attempt);
}

/** What is sent in that direction, to or by an attempt of the ApplicationMaster, is lost. */
export function isLost({ cut }: ModelNode, direction: "inward" | "outward", attempt: number): boolean {
  if (cut?.beside !== undefined) {
    return cut.beside !== attempt;
  }
  return cut?.apartFrom === undefined ? cut?.[direction] === true : cut.apartFrom === attempt;
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
