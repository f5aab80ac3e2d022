import { encodeDelimited, type MessageType } from "./codec.ts";
import { yarn } from "./yarn.ts";

/** Bytes ⇄ messages of one method of a service. */
export interface WireMethod<Request, Response> {
  /** With its length in front, as Hadoop IPC takes it. */
  encode(request: Request): Uint8Array;
  /** Throws protobufjs's ProtocolError for bytes that are no such message. */
  decode(bytes: Uint8Array): Response;
}

function method<Request, Response>(
  request: Pick<MessageType<Request, unknown>, "encode">,
  response: Pick<MessageType<never, Response>, "decode">,
): WireMethod<Request, Response> {
  return {
    encode: (message) => encodeDelimited(request, message),
    decode: (bytes) => response.decode(bytes),
  };
}

/** org.apache.hadoop.yarn.api.ApplicationClientProtocol, as far as it is used; scripts/proto.mjs generates these messages alone. */
export const applicationClient = {
  getNewApplication: method(yarn.GetNewApplicationRequestProto, yarn.GetNewApplicationResponseProto),
  getApplicationReport: method(yarn.GetApplicationReportRequestProto, yarn.GetApplicationReportResponseProto),
  submitApplication: method(yarn.SubmitApplicationRequestProto, yarn.SubmitApplicationResponseProto),
  failApplicationAttempt: method(yarn.FailApplicationAttemptRequestProto, yarn.FailApplicationAttemptResponseProto),
  forceKillApplication: method(yarn.KillApplicationRequestProto, yarn.KillApplicationResponseProto),
  getClusterMetrics: method(yarn.GetClusterMetricsRequestProto, yarn.GetClusterMetricsResponseProto),
  getApplications: method(yarn.GetApplicationsRequestProto, yarn.GetApplicationsResponseProto),
  getClusterNodes: method(yarn.GetClusterNodesRequestProto, yarn.GetClusterNodesResponseProto),
  getQueueInfo: method(yarn.GetQueueInfoRequestProto, yarn.GetQueueInfoResponseProto),
  getQueueUserAcls: method(yarn.GetQueueUserAclsInfoRequestProto, yarn.GetQueueUserAclsInfoResponseProto),
  moveApplicationAcrossQueues: method(
    yarn.MoveApplicationAcrossQueuesRequestProto,
    yarn.MoveApplicationAcrossQueuesResponseProto,
  ),
  getApplicationAttemptReport: method(
    yarn.GetApplicationAttemptReportRequestProto,
    yarn.GetApplicationAttemptReportResponseProto,
  ),
  getApplicationAttempts: method(yarn.GetApplicationAttemptsRequestProto, yarn.GetApplicationAttemptsResponseProto),
  getContainerReport: method(yarn.GetContainerReportRequestProto, yarn.GetContainerReportResponseProto),
  getContainers: method(yarn.GetContainersRequestProto, yarn.GetContainersResponseProto),
  getNodeToLabels: method(yarn.GetNodesToLabelsRequestProto, yarn.GetNodesToLabelsResponseProto),
  getLabelsToNodes: method(yarn.GetLabelsToNodesRequestProto, yarn.GetLabelsToNodesResponseProto),
  getClusterNodeLabels: method(yarn.GetClusterNodeLabelsRequestProto, yarn.GetClusterNodeLabelsResponseProto),
  updateApplicationPriority: method(
    yarn.UpdateApplicationPriorityRequestProto,
    yarn.UpdateApplicationPriorityResponseProto,
  ),
  signalToContainer: method(yarn.SignalContainerRequestProto, yarn.SignalContainerResponseProto),
  updateApplicationTimeouts: method(
    yarn.UpdateApplicationTimeoutsRequestProto,
    yarn.UpdateApplicationTimeoutsResponseProto,
  ),
  getResourceTypeInfo: method(yarn.GetAllResourceTypeInfoRequestProto, yarn.GetAllResourceTypeInfoResponseProto),
};

/** org.apache.hadoop.yarn.api.ApplicationMasterProtocol. */
export const applicationMaster = {
  registerApplicationMaster: method(
    yarn.RegisterApplicationMasterRequestProto,
    yarn.RegisterApplicationMasterResponseProto,
  ),
  allocate: method(yarn.AllocateRequestProto, yarn.AllocateResponseProto),
  finishApplicationMaster: method(yarn.FinishApplicationMasterRequestProto, yarn.FinishApplicationMasterResponseProto),
};

/** org.apache.hadoop.yarn.api.ContainerManagementProtocol, as far as it is used. */
export const containerManagement = {
  startContainers: method(yarn.StartContainersRequestProto, yarn.StartContainersResponseProto),
  stopContainers: method(yarn.StopContainersRequestProto, yarn.StopContainersResponseProto),
  getContainerStatuses: method(yarn.GetContainerStatusesRequestProto, yarn.GetContainerStatusesResponseProto),
  updateContainer: method(yarn.ContainerUpdateRequestProto, yarn.ContainerUpdateResponseProto),
  signalToContainer: method(yarn.SignalContainerRequestProto, yarn.SignalContainerResponseProto),
};
