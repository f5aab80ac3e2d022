/** Which of a node's connections are cut. */
export interface Cut {
  /** Also those to the ResourceManager, to HDFS and to everything else. */
  readonly whole?: true;
  /** Its NodeManager stands still as well. */
  readonly unmanaged?: true;
  /** What the ApplicationMaster sends to it is lost. */
  readonly inward: boolean;
  /** What it sends to the ApplicationMaster is lost. */
  readonly outward: boolean;
  /** It was cut off together with this attempt of the ApplicationMaster, which is all that it reaches. */
  readonly beside?: number;
  /** This attempt was cut off: it is all that the node does not reach. */
  readonly apartFrom?: number;
}

export interface ModelNode {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  /** Its only label, which is exclusive; empty where it has none. */
  readonly label: string;
  capacityMiB: number;
  usedMiB: number;
  /** Whether the ResourceManager counts it as alive. */
  alive: boolean;
  /** Whether the machine is off, for good. */
  hasCrashed: boolean;
  /** It is being taken out of the cluster: how long that takes from its beginning. */
  leaving: { readonly timeoutMs: number } | undefined;
  cut: Cut | undefined;
  /** By how much its clock is ahead. */
  skewMs: number;
  /** How much longer than usual its NodeManager takes for each order. */
  slowMs: number;
  /** By when orders from its slow time are carried out; 0: it was never slow. */
  slowUntilMs: number;
  /** Its NodeManager is down: containers run on, and nobody hears of them. */
  isUnmanaged: boolean;
  /** When its NodeManager last came back; 0: it was never away. */
  managedAgainAtMs: number;
  /** When within each heartbeat interval its NodeManager reports. */
  readonly phaseMs: number;
  tickScheduled: boolean;
}

/** Whether connections between it and an attempt of the ApplicationMaster work, which takes both directions. */
export function isReachable(node: ModelNode, attempt: number): boolean {
  return !isLost(node, "inward", attempt) && !isLost(node, "outward", attempt);
}

/** Whether what is sent in that direction, to or by an attempt of the ApplicationMaster, is lost. */
export function isLost({ cut }: ModelNode, direction: "inward" | "outward", attempt: number): boolean {
  if (cut?.beside !== undefined) {
    return cut.beside !== attempt;
  }
  return cut?.apartFrom === undefined ? cut?.[direction] === true : cut.apartFrom === attempt;
}

/** Whether it reaches what is neither the ApplicationMaster nor on the node itself, such as HDFS. */
export function reachesOthers({ cut }: ModelNode): boolean {
  return cut?.whole !== true;
}

/** Whether YARN's orders are carried out there. */
export function obeysYarn({ cut }: ModelNode): boolean {
  return cut?.whole !== true && cut?.unmanaged !== true;
}

/** Whether the ResourceManager hears from it. */
export function reports(node: ModelNode): boolean {
  return node.alive && obeysYarn(node) && !node.isUnmanaged;
}
