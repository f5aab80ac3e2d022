import type { NodeReport, NodeState, QueueInfo, Resource } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { NewApplication } from "../../src/hadoop/yarn/submission.ts";
import type { NodeSnapshot, QueueShares } from "../../src/job/cluster-nodes.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ClusterFacts } from "./cluster-checks.ts";
import { isConstrained } from "./constraint-checks.ts";

/** All that a submission asks the ResourceManager before it submits; the questions are sent concurrently. */
export interface SubmissionFacts extends Omit<ClusterFacts, "configured"> {
  readonly application: NewApplication;
  /** Labels that are not exclusive: their nodes also serve requests that name no label. */
  readonly sharedLabels: readonly string[];
}

/** Nodes in these states run again sooner or later, or may do so. */
const mayComeBack: readonly NodeState[] = ["NEW", "UNHEALTHY", "LOST", "REBOOTED"];
/** With these states it is known which nodes have a label even where none of them runs. */
export const nodeStatesAsked: readonly NodeState[] = ["RUNNING", ...mayComeBack, "DECOMMISSIONING", "DECOMMISSIONED"];

export async function askSubmissionFacts(
  resourceManager: ResourceManagerClient,
  draft: JobSpec,
): Promise<SubmissionFacts> {
  const [application, resourceTypes, queue, nodes, labels, nodeAttributes] = await Promise.all([
    resourceManager.newApplication(),
    resourceManager.resourceTypes(),
    resourceManager.queue(draft.queue, { children: true }),
    resourceManager.nodes(nodeStatesAsked),
    resourceManager.nodeLabels(),
    isConstrained(draft) ? resourceManager.nodeAttributes() : undefined,
  ]);
  const fits = queue !== undefined && queue.state === "RUNNING" && queue.children.length === 0;
  const queues = fits ? { leafQueues: [queue.name], queuesAreOpen: false } : await queueFacts(resourceManager);
  return {
    application,
    maximum: application.maximum,
    resourceTypes,
    ...(queue === undefined ? {} : { queue: { ...queue, mostByLabel: await mostOf(resourceManager, queue) } }),
    ...queues,
    nodeLabels: labels.map(({ name }) => name),
    ...(nodeAttributes === undefined ? {} : { nodeAttributes }),
    sharedLabels: labels.flatMap(({ name, exclusive }) => (exclusive ? [] : [name])),
    nodes: nodes.filter(({ state }) => state === "RUNNING").map(nodeSnapshot),
    nodesAreAway: nodes.some(({ state }) => mayComeBack.includes(state)),
    awayNodes: awayNodes(nodes),
  };
}

/**
 * FairScheduler, which names queues by their paths, reports a queue's own limit, without the lower limits of the queues above it
 * (FSQueue#getQueueInfo).
 */
export async function mostOf(
  resourceManager: Pick<ResourceManagerClient, "queue">,
  { name, mostByLabel }: QueueInfo,
): Promise<QueueInfo["mostByLabel"]> {
  const words = name.startsWith("root.") ? name.split(".") : [];
  const paths = words.slice(2).map((_, index) => words.slice(0, index + 2).join("."));
  const above = await Promise.all(paths.map((path) => resourceManager.queue(path)));
  const limits = [{ mostByLabel }, ...above].flatMap((one) => one?.mostByLabel[""] ?? []);
  if (paths.length === 0 || limits.length === 0) return mostByLabel;
  const memoryMiB = Math.min(...limits.map((limit) => limit.memoryMiB));
  return { "": { memoryMiB, vcores: Math.min(...limits.map(({ vcores }) => vcores)), others: {} } };
}

/** The largest share of the nodes that the queue may use, where that is less than all. */
export function queueShares({ queue, nodes }: Pick<SubmissionFacts, "queue" | "nodes">): {
  readonly queueShares?: QueueShares;
} {
  const told = Object.entries(queue?.mostByLabel ?? {}).flatMap(([label, most]) => {
    const totals = nodes.flatMap(({ labels, total }) => (total && (labels[0] ?? "") === label ? [total] : []));
    // A limit that does not name a kind of resource reads as zero of it.
    const share = (of: (resource: Resource) => number) => {
      const all = totals.reduce((sum, total) => sum + of(total), 0);
      return of(most) === 0 ? 1 : Math.min(1, of(most) / Math.max(1, all));
    };
    const types = [...new Set(totals.flatMap(({ others }) => Object.keys(others)))];
    const others = Object.fromEntries(types.map((type) => [type, share((resource) => resource.others[type] ?? 0)]));
    const shares = { memoryMiB: share(({ memoryMiB }) => memoryMiB), vcores: share(({ vcores }) => vcores), others };
    return totals.length > 0 && Math.min(shares.memoryMiB, shares.vcores) < 1 ? [[label, shares] as const] : [];
  });
  if (queue === undefined || told.length === 0) return {};
  return { queueShares: { queue: queue.name, ofLabels: Object.fromEntries(told) } };
}

/** Which queues take applications, and whether others may. */
export async function queueFacts(
  resourceManager: Pick<ResourceManagerClient, "queue">,
): Promise<Pick<ClusterFacts, "leafQueues" | "queuesAreOpen">> {
  const root = await resourceManager.queue("root", { children: true, recursive: true });
  if (root === undefined) return { leafQueues: [], queuesAreOpen: true };
  return { leafQueues: leaves(root).map(({ name }) => name), queuesAreOpen: isFairScheduler(root) };
}

/**
 * FairScheduler creates the queues that submissions name and places applications by rules, so that no list of queues says which it
 * takes (org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.QueueManager). Its lists give it away: `root` alone, or whole
 * paths as names; CapacityScheduler's root has children, named by the last part of their paths.
 */
export function isFairScheduler(root: QueueInfo): boolean {
  return root.children.length === 0 || root.children.some(({ name }) => name.startsWith("root."));
}

/** The queues at the bottom of the hierarchy. */
export function leaves(queue: QueueInfo): QueueInfo[] {
  return queue.children.length === 0 ? [queue] : queue.children.flatMap(leaves);
}

/** Nodes that do not run and whose label no running node has. */
export function awayNodes(nodes: readonly NodeReport[]): NodeSnapshot[] {
  const served = new Set(nodes.flatMap(({ state, labels }) => (state === "RUNNING" ? labels : [])));
  return nodes.filter(({ labels }) => labels.some((label) => label !== "" && !served.has(label))).map(nodeSnapshot);
}

function nodeSnapshot(node: NodeReport): NodeSnapshot {
  const { nodeId, host, rack, labels, capability, state } = node;
  const away = state === "RUNNING" ? {} : { state };
  return { nodeId, host, rack, labels, free: freeOf(node), total: capability, ...away };
}

/** What is free on a node. */
export function freeOf({ capability, used }: NodeReport): Resource {
  const others = Object.entries(capability.others).map(([name, all]) => [name, all - (used.others[name] ?? 0)]);
  return {
    memoryMiB: capability.memoryMiB - used.memoryMiB,
    vcores: capability.vcores - used.vcores,
    others: Object.fromEntries(others),
  };
}
