import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { NodeState, Resource } from "../hadoop/yarn/records.ts";
import { amount, arrayOf, literal, object, recordOf, type Shape, string } from "./shape.ts";

/** A node of the cluster at the time of the submission: the ResourceManager tells an ApplicationMaster only of changes. */
export interface NodeSnapshot {
  /** `host:port` of its NodeManager. */
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  readonly labels: readonly string[];
  /** As reported by the cluster: negative for resources that its scheduler does not count, absent where unknown. */
  readonly free?: Resource;
  /** All of its resources for containers; absent where unknown. */
  readonly total?: Resource;
  /** The state's name at the ResourceManager; absent: it runs. */
  readonly state?: AwayState;
}

/** States in which a node runs no containers of a new job. */
export type AwayState = Exclude<NodeState, "RUNNING">;

/** The largest share of the nodes with each label (none: "") that a queue may use: fractions of 1, for each kind of resource. */
export interface QueueShares {
  readonly queue: string;
  readonly ofLabels: Readonly<Record<string, Resource>>;
}

/** Free cores are negative where the scheduler does not count them (DefaultResourceCalculator). */
export const clusterResource: Shape<Resource> = object({
  required: { memoryMiB: amount, vcores: amount, others: recordOf(amount) },
  optional: {},
});

const awayState = literal<AwayState>(
  "NEW",
  "UNHEALTHY",
  "DECOMMISSIONED",
  "LOST",
  "REBOOTED",
  "DECOMMISSIONING",
  "SHUTDOWN",
);

const node: Shape<NodeSnapshot> = object({
  required: { nodeId: string, host: string, rack: string, labels: arrayOf(string) },
  optional: { free: clusterResource, total: clusterResource, state: awayState },
});

const clusterNodes = arrayOf(node);

/**
 * `nodes.json` in the staging folder: the running nodes of the cluster, and other nodes that are the only ones with a label. It is separate from
 * job.json, which more programs read, because in a large cluster it is the larger of the two.
 */
export function formatClusterNodes(nodes: readonly NodeSnapshot[]): string {
  return JSON.stringify(nodes);
}

/** Throws a TonyError with code `JOB_FILE_INVALID` when it is damaged. */
export function parseClusterNodes(text: string): readonly NodeSnapshot[] {
  try {
    return clusterNodes(JSON.parse(text), "nodes");
  } catch (cause) {
    throw new TonyError(`nodes.json is not usable: ${errorMessage(cause)}`, { code: "JOB_FILE_INVALID", cause });
  }
}
