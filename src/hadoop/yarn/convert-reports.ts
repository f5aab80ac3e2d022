/** The ResourceManager's reports on applications, nodes and queues: messages → records. */
import type { hadoop } from "../wire/yarn.ts";
import { applicationStates, finalStatuses, nodeStates, queueStates } from "./convert-enums.ts";
import {
  applicationIdFromWire,
  attemptIdFromWire,
  containerIdFromWire,
  nodeIdFromWire,
  toNumber,
} from "./convert-ids.ts";
import { resourceFromWire } from "./convert-resources.ts";
import { textFromWire } from "./convert-text.ts";
import type { ApplicationReport, ClusterMetrics, ContainerReport, NodeReport, QueueInfo } from "./records.ts";

type UsageProto = hadoop.yarn.ApplicationResourceUsageReportProto.$Properties;

/** YARN's names of the resources that have fields of their own. */
const memory = "memory-mb";
const vcores = "vcores";

export function applicationReportFromWire(message: hadoop.yarn.ApplicationReportProto.$Properties): ApplicationReport {
  const attemptNumber = message.currentApplicationAttemptId?.attemptId ?? 0;
  const usage = message.app_resource_Usage;
  return {
    id: applicationIdFromWire(message.applicationId),
    user: message.user ?? "",
    name: message.name ?? "",
    queue: message.queue ?? "",
    type: message.applicationType ?? "",
    tags: [...(message.applicationTags ?? [])],
    state: applicationStates.fromWire(message.yarn_application_state),
    finalStatus: finalStatuses.fromWire(message.final_application_status),
    ...(attemptNumber > 0 ? { currentAttemptId: attemptIdFromWire(message.currentApplicationAttemptId) } : {}),
    ...masterAddress(message.host, message.rpc_port),
    trackingUrl: textFromWire(message.trackingUrl),
    ...(message.originalTrackingUrl?.startsWith("https:") === true ? { servesHttps: true } : {}),
    ...(message.unmanaged_application === true ? { unmanaged: true } : {}),
    diagnostics: textFromWire(message.diagnostics),
    startTimeMs: toNumber(message.startTime),
    launchTimeMs: toNumber(message.launchTime),
    finishTimeMs: toNumber(message.finishTime),
    progress: message.progress ?? 0,
    priority: message.priority?.priority ?? 0,
    ...(usage ? { usage: usageFromWire(usage) } : {}),
  };
}

function masterAddress(
  host: string | null | undefined,
  port: number | null | undefined,
): Pick<ApplicationReport, "amHost" | "amRpcPort"> {
  return {
    ...(textFromWire(host) === "" ? {} : { amHost: textFromWire(host) }),
    ...(typeof port === "number" && port >= 0 ? { amRpcPort: port } : {}),
  };
}

/** −1 means that the ResourceManager does not know the amount, which it reports for applications that have ended. */
function usageFromWire(usage: UsageProto): NonNullable<ApplicationReport["usage"]> {
  const byType = new Map((usage.application_resource_usage_map ?? []).map(({ key, value }) => [key, toNumber(value)]));
  const memorySeconds = byType.get(memory) ?? toNumber(usage.memory_seconds);
  const vcoreSeconds = byType.get(vcores) ?? toNumber(usage.vcore_seconds);
  byType.delete(memory);
  byType.delete(vcores);
  return {
    usedContainers: Math.max(0, usage.num_used_containers ?? 0),
    used: resourceFromWire(usage.used_resources),
    needed: resourceFromWire(usage.needed_resources),
    memorySeconds,
    vcoreSeconds,
    resourceSeconds: Object.fromEntries(byType),
  };
}

export function nodeReportFromWire(message: hadoop.yarn.NodeReportProto.$Properties): NodeReport {
  // A Java int in a uint32; negative for no limit.
  const decommissioningTimeoutS = (message.decommissioning_timeout ?? -1) | 0;
  return {
    nodeId: nodeIdFromWire(message.nodeId),
    host: message.nodeId?.host ?? "",
    httpAddress: message.httpAddress ?? "",
    rack: message.rackName ?? "",
    state: nodeStates.fromWire(message.node_state),
    used: resourceFromWire(message.used),
    capability: resourceFromWire(message.capability),
    containerCount: message.numContainers ?? 0,
    labels: [...(message.node_labels ?? [])],
    healthReport: message.health_report ?? "",
    ...(decommissioningTimeoutS < 0 ? {} : { decommissioningTimeoutS }),
  };
}

export function containerReportFromWire(message: hadoop.yarn.ContainerReportProto.$Properties): ContainerReport {
  return {
    containerId: containerIdFromWire(message.container_id),
    nodeId: nodeIdFromWire(message.node_id),
    resource: resourceFromWire(message.resource),
  };
}

export function queueInfoFromWire(message: hadoop.yarn.QueueInfoProto.$Properties): QueueInfo {
  return {
    name: message.queueName ?? "",
    path: message.queuePath || message.queueName || "",
    state: queueStates.fromWire(message.state),
    capacity: message.capacity ?? 0,
    maximumCapacity: message.maximumCapacity ?? 0,
    currentCapacity: message.currentCapacity ?? 0,
    mostByLabel: mostByLabel(message),
    accessibleNodeLabels: [...(message.accessibleNodeLabels ?? [])],
    defaultNodeLabel: message.defaultNodeLabelExpression ?? "",
    applications: (message.applications ?? []).map(applicationReportFromWire),
    children: (message.childQueues ?? []).map(queueInfoFromWire),
  };
}

/**
 * CapacityScheduler reports it since Hadoop 3.1 (org.apache.hadoop.yarn.api.records.QueueConfigurations). FairScheduler, which has no
 * labels, does since 3.4: the queue's own maxResources, or the cluster's where that is less (FSQueue#getQueueInfo).
 */
function mostByLabel(message: hadoop.yarn.QueueInfoProto.$Properties): QueueInfo["mostByLabel"] {
  if (message.schedulerType === "FairScheduler") {
    const memoryMiB = toNumber(message.maxResourceMemory);
    // 3.4 writes the maximum cores into the field for the minimum (QueueInfoPBImpl#setMaxResourceVCore).
    const vcores = message.maxResourceVCore || (message.minResourceVCore ?? 0);
    return memoryMiB > 0 ? { "": { memoryMiB, vcores, others: {} } } : {};
  }
  const told = (message.queueConfigurationsMap ?? []).flatMap(({ partitionName, queueConfigurations }) => {
    const most = resourceFromWire(queueConfigurations?.effectiveMaxCapacity);
    return most.memoryMiB > 0 ? [[partitionName ?? "", most] as const] : [];
  });
  return Object.fromEntries(told);
}

export function clusterMetricsFromWire(
  message: hadoop.yarn.YarnClusterMetricsProto.$Properties | null | undefined,
): ClusterMetrics {
  return {
    nodeManagers: message?.num_node_managers ?? 0,
    activeNodeManagers: message?.num_active_nms ?? 0,
    lostNodeManagers: message?.num_lost_nms ?? 0,
    unhealthyNodeManagers: message?.num_unhealthy_nms ?? 0,
  };
}
