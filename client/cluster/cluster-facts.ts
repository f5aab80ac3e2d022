import type { NodeReport, QueueInfo } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { NewApplication } from "../../src/hadoop/yarn/submission.ts";
import type { NodeSnapshot } from "../../src/job/job-file.ts";
import type { ClusterFacts } from "./cluster-checks.ts";

/** All that a submission asks the ResourceManager before it submits; the questions go out together. */
export interface SubmissionFacts extends ClusterFacts {
  readonly application: NewApplication;
  /** Labels whose nodes may be lent to those who name none. */
  readonly sharedLabels: readonly string[];
}

/** Nodes in these states run again sooner or later, or may. */
const mayComeBack = ["NEW", "UNHEALTHY", "LOST", "REBOOTED"] as const;

export async function askSubmissionFacts(
  resourceManager: ResourceManagerClient,
  queueName: string,
): Promise<SubmissionFacts> {
  const [application, resourceTypes, queue, nodes, labels] = await Promise.all([
    resourceManager.newApplication(),
    resourceManager.resourceTypes(),
    resourceManager.queue(queueName, { children: true }),
    resourceManager.nodes(["RUNNING", ...mayComeBack]),
    resourceManager.nodeLabels(),
  ]);
  const fits = queue !== undefined && queue.state === "RUNNING" && queue.children.length === 0;
  return {
    application,
    maximum: application.maximum,
    resourceTypes,
    ...(queue === undefined ? {} : { queue }),
    leafQueues: fits ? [queue.name] : await leafQueues(resourceManager),
    nodeLabels: labels.map(({ name }) => name),
    sharedLabels: labels.flatMap(({ name, exclusive }) => (exclusive ? [] : [name])),
    nodes: nodes.filter(({ state }) => state === "RUNNING").map(nodeSnapshot),
    nodesAreAway: nodes.some(({ state }) => state !== "RUNNING"),
  };
}

/** The queues that take applications, by name. */
export async function leafQueues(resourceManager: ResourceManagerClient): Promise<string[]> {
  const root = await resourceManager.queue("root", { children: true, recursive: true });
  return root === undefined ? [] : leaves(root).map(({ name }) => name);
}

/** The queues below that have none below themselves. */
export function leaves(queue: QueueInfo): QueueInfo[] {
  return queue.children.length === 0 ? [queue] : queue.children.flatMap(leaves);
}

function nodeSnapshot({ nodeId, host, rack, labels, capability, used }: NodeReport): NodeSnapshot {
  const others = Object.entries(capability.others).map(([name, all]) => [name, all - (used.others[name] ?? 0)]);
  const free = {
    memoryMiB: capability.memoryMiB - used.memoryMiB,
    vcores: capability.vcores - used.vcores,
    others: Object.fromEntries(others),
  };
  return { nodeId, host, rack, labels, free, total: capability };
}
