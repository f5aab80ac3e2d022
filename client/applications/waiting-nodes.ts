import type { NodeReport, NodeState } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { amountWords } from "../../src/job/reasons/words.ts";
import { freeOf } from "../cluster/cluster-facts.ts";

/** States of nodes that have room for an AM, or would have it. */
export const askedStates: readonly NodeState[] = ["RUNNING", "UNHEALTHY", "LOST", "DECOMMISSIONING"];

/** Reasons of an AM that the queue may start, or could if its partition had nodes: whatever YARN says then, it is nodes that are missing. */
const ofNodes: ReadonlySet<string> = new Set([
  "am-limit-of-queue",
  "am-limit-of-user",
  "am-queue-full",
  "am-not-placed",
]);

/** Whether the reason leaves open what part the nodes have in it. */
export function isOfNodes({ code }: DelayReason): boolean {
  return ofNodes.has(code);
}

/**
 * The reason why an AM has no container, with what is known of the nodes. An AM's container is placed on nodes of its own partition alone,
 * even where other partitions lend theirs
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.allocator.RegularContainerAllocator).
 */
export function withNodes(
  reason: DelayReason,
  { queue, diagnostics }: { readonly queue: string; readonly diagnostics: string },
  nodes: readonly NodeReport[],
): DelayReason {
  const partition = amPartition(diagnostics) ?? (nodes.every((node) => labelOf(node) === "") ? "" : undefined);
  if (partition === undefined || !isOfNodes(reason)) return reason;
  const hosts = (wanted: NodeState) => nodes.filter(({ state }) => state === wanted).map(({ host }) => host);
  const active = nodes.filter(({ state }) => state === "RUNNING");
  const usable = active.filter((node) => labelOf(node) === partition);
  const leaving = hosts("DECOMMISSIONING");
  const facts = {
    queue,
    ...(partition === "" ? {} : { label: partition }),
    active: active.length,
    lost: hosts("LOST"),
    unhealthy: hosts("UNHEALTHY"),
    ...(leaving.length > 0 && { leaving }),
  };
  if (usable.length === 0) {
    const labels = [...new Set(active.map(labelOf))].filter((label) => label !== "").sort();
    return { code: "am-no-node", ...facts, labels };
  }
  if (reason.code !== "am-not-placed") return reason;
  const free = usable.map((node) => ({ host: node.host, amount: freeOf(node) }));
  free.sort((one, other) => other.amount.memoryMiB - one.amount.memoryMiB);
  const rooms = free.map(({ host, amount }) => `${host} (${amountWords(amount)})`);
  return { ...reason, ...facts, usable: usable.length, rooms };
}

/** A node belongs to one partition: YARN gives it one label, or none. */
function labelOf({ labels: [label = ""] }: NodeReport): string {
  return label;
}

/** The label of the partition that an AM waits for; empty: nodes without a label; undefined where the ResourceManager does not say. */
export function amPartition(diagnostics: string): string | undefined {
  const partition = /AM Partition = ([^;]+?) ?;/.exec(diagnostics)?.[1];
  return partition === noLabel ? "" : partition;
}

/** The partition of nodes without a label (org.apache.hadoop.yarn.api.records.NodeLabel). */
const noLabel = "<DEFAULT_PARTITION>";
