import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { NodeState, Resource } from "../hadoop/yarn/records.ts";
import { amount, arrayOf, literal, object, recordOf, type Shape, string } from "./shape.ts";

/** A machine of the cluster as it was at submission: the ResourceManager tells an ApplicationMaster of changes only. */
export interface NodeSnapshot {
  /** `host:port` of its NodeManager. */
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  readonly labels: readonly string[];
  /** As the cluster told it: negative of what its scheduler does not count, absent where it is not known. */
  readonly free?: Resource;
  /** All that it has for containers; absent where it is not known. */
  readonly total?: Resource;
  /** As the ResourceManager names it; absent: it runs. */
  readonly state?: AwayState;
}

/** States of nodes that do not run containers of a new job. */
export type AwayState = Exclude<NodeState, "RUNNING">;

/** The most that a queue may have of the nodes with each label (none: ""): parts of 1, for each kind of what they have. */
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
 * `nodes.json` in the staging folder: the nodes of the cluster that run, and those that alone have a label. It is apart from job.json, which more is read from, as a large
 * cluster's is the larger of the two.
 */
export function formatClusterNodes(nodes: readonly NodeSnapshot[]): string {
  return JSON.stringify(nodes);
}

/** Throws a TonyError with code `JOB_FILE_INVALID`: it is damaged. */
export function parseClusterNodes(text: string): readonly NodeSnapshot[] {
  try {
    return clusterNodes(JSON.parse(text), "nodes");
  } catch (cause) {
    throw new TonyError(`nodes.json is not usable: ${errorMessage(cause)}`, { code: "JOB_FILE_INVALID", cause });
  }
}
