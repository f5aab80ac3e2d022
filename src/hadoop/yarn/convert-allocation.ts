/** The ApplicationMaster's heartbeat ⇄ messages. */
import { type hadoop, yarn } from "../wire/yarn.ts";
import type { Allocation, PreemptionMessage, Registration, ResourceRequest } from "./allocation.ts";
import { containerFromWire, containerStatusFromWire } from "./convert-containers.ts";
import { executionTypes } from "./convert-enums.ts";
import { containerIdFromWire, toNumber } from "./convert-ids.ts";
import { rejectedFromWire } from "./convert-placement.ts";
import { nodeReportFromWire } from "./convert-reports.ts";
import { resourceFromWire, resourceToWire, resourceTypesFromWire } from "./convert-resources.ts";
import { nodeTokensFromWire } from "./convert-tokens.ts";
import type { ContainerId } from "./records.ts";
import type { ResourceTypes } from "./resource-types.ts";

const noAllocationRequestId = -1;

/** Throws UnknownResourceTypeError. */
export function resourceRequestToWire(
  request: ResourceRequest,
  types: ResourceTypes,
): hadoop.yarn.ResourceRequestProto.$Properties {
  return {
    priority: { priority: request.priority },
    resource_name: request.resourceName,
    capability: resourceToWire(request.capability, types),
    num_containers: request.count,
    relax_locality: request.relaxLocality ?? true,
    ...(request.nodeLabelExpression === undefined ? {} : { node_label_expression: request.nodeLabelExpression }),
    execution_type_request: {
      execution_type: executionTypes.toWire(request.executionType ?? "GUARANTEED"),
      enforce_execution_type: false,
    },
    allocation_request_id: request.allocationRequestId ?? noAllocationRequestId,
  };
}

function resourceRequestFromWire(message: hadoop.yarn.ResourceRequestProto.$Properties): ResourceRequest {
  return {
    priority: message.priority?.priority ?? 0,
    resourceName: message.resource_name ?? "",
    capability: resourceFromWire(message.capability),
    count: message.num_containers ?? 0,
    relaxLocality: message.relax_locality ?? true,
    ...(message.node_label_expression ? { nodeLabelExpression: message.node_label_expression } : {}),
    executionType: executionTypes.fromWire(message.execution_type_request?.execution_type),
    allocationRequestId: toNumber(message.allocation_request_id ?? noAllocationRequestId),
  };
}

export function registrationFromWire(
  message: hadoop.yarn.RegisterApplicationMasterResponseProto.$Properties,
): Registration {
  const key = message.client_to_am_token_master_key ?? new Uint8Array(0);
  return {
    answered: true,
    maximum: resourceFromWire(message.maximumCapability),
    queue: message.queue ?? "",
    resourceTypes: resourceTypesFromWire(message.resource_types),
    counted: (message.scheduler_resource_types ?? []).includes(yarn.SchedulerResourceTypes.CPU) ? "all" : "memory",
    containersFromPreviousAttempts: (message.containers_from_previous_attempts ?? []).map(containerFromWire),
    nodeTokens: nodeTokensFromWire(message.nm_tokens_from_previous_attempts),
    ...(key.length === 0 ? {} : { clientToAmMasterKey: Uint8Array.from(key) }),
  };
}

/**
 * The answer's command to the ApplicationMaster, if it contains one. An unset field reads as the first value of its enumeration, which is
 * AM_RESYNC here, so only a field of the message itself counts.
 */
export function commandFromWire(message: hadoop.yarn.AllocateResponseProto): "RESYNC" | "SHUTDOWN" | undefined {
  if (!Object.hasOwn(message, "a_m_command")) return undefined;
  return message.a_m_command === yarn.AMCommandProto.AM_RESYNC ? "RESYNC" : "SHUTDOWN";
}

export function allocationFromWire(message: hadoop.yarn.AllocateResponseProto.$Properties): Allocation {
  return {
    allocated: (message.allocated_containers ?? []).map(containerFromWire),
    completed: (message.completed_container_statuses ?? []).map(containerStatusFromWire),
    rejected: (message.rejected_scheduling_requests ?? []).map(rejectedFromWire),
    updatedNodes: (message.updated_nodes ?? []).map(nodeReportFromWire),
    available: resourceFromWire(message.limit),
    clusterNodeCount: message.num_cluster_nodes ?? 0,
    ...(message.preempt ? { preemption: preemptionFromWire(message.preempt) } : {}),
    nodeTokens: nodeTokensFromWire(message.nm_tokens),
    containersFromPreviousAttempts: (message.containers_from_previous_attempts ?? []).map(containerFromWire),
    ...(message.application_priority ? { applicationPriority: message.application_priority.priority ?? 0 } : {}),
  };
}

function preemptionFromWire(message: hadoop.yarn.PreemptionMessageProto.$Properties): PreemptionMessage {
  return {
    strict: containerIds(message.strictContract?.container),
    negotiable: {
      containers: containerIds(message.contract?.container),
      resources: (message.contract?.resource ?? []).flatMap(({ resource }) =>
        resource ? [resourceRequestFromWire(resource)] : [],
      ),
    },
  };
}

function containerIds(
  messages: readonly hadoop.yarn.PreemptionContainerProto.$Properties[] | null | undefined,
): readonly ContainerId[] {
  return (messages ?? []).map(({ id }) => containerIdFromWire(id));
}
