import { wireMethod } from "./codec.ts";
import { ofYarn as common, yarn } from "./yarn.ts";

/** The methods of org.apache.hadoop.yarn.api.ApplicationClientProtocol that are used; scripts/proto.mjs generates only their messages. */
export const applicationClient = {
  getNewApplication: wireMethod(yarn.GetNewApplicationRequestProto, yarn.GetNewApplicationResponseProto),
  getApplicationReport: wireMethod(yarn.GetApplicationReportRequestProto, yarn.GetApplicationReportResponseProto),
  submitApplication: wireMethod(yarn.SubmitApplicationRequestProto, yarn.SubmitApplicationResponseProto),
  forceKillApplication: wireMethod(yarn.KillApplicationRequestProto, yarn.KillApplicationResponseProto),
  getClusterMetrics: wireMethod(yarn.GetClusterMetricsRequestProto, yarn.GetClusterMetricsResponseProto),
  getApplications: wireMethod(yarn.GetApplicationsRequestProto, yarn.GetApplicationsResponseProto),
  getClusterNodes: wireMethod(yarn.GetClusterNodesRequestProto, yarn.GetClusterNodesResponseProto),
  getQueueInfo: wireMethod(yarn.GetQueueInfoRequestProto, yarn.GetQueueInfoResponseProto),
  getQueueUserAcls: wireMethod(yarn.GetQueueUserAclsInfoRequestProto, yarn.GetQueueUserAclsInfoResponseProto),
  getContainers: wireMethod(yarn.GetContainersRequestProto, yarn.GetContainersResponseProto),
  getClusterNodeLabels: wireMethod(yarn.GetClusterNodeLabelsRequestProto, yarn.GetClusterNodeLabelsResponseProto),
  getClusterNodeAttributes: wireMethod(
    yarn.GetClusterNodeAttributesRequestProto,
    yarn.GetClusterNodeAttributesResponseProto,
  ),
  getDelegationToken: wireMethod(common.GetDelegationTokenRequestProto, common.GetDelegationTokenResponseProto),
  getResourceTypeInfo: wireMethod(yarn.GetAllResourceTypeInfoRequestProto, yarn.GetAllResourceTypeInfoResponseProto),
};

/** org.apache.hadoop.yarn.api.ApplicationMasterProtocol. */
export const applicationMaster = {
  registerApplicationMaster: wireMethod(
    yarn.RegisterApplicationMasterRequestProto,
    yarn.RegisterApplicationMasterResponseProto,
  ),
  allocate: wireMethod(yarn.AllocateRequestProto, yarn.AllocateResponseProto),
  finishApplicationMaster: wireMethod(
    yarn.FinishApplicationMasterRequestProto,
    yarn.FinishApplicationMasterResponseProto,
  ),
};

/** The methods of org.apache.hadoop.yarn.api.ContainerManagementProtocol that are used. */
export const containerManagement = {
  startContainers: wireMethod(yarn.StartContainersRequestProto, yarn.StartContainersResponseProto),
  stopContainers: wireMethod(yarn.StopContainersRequestProto, yarn.StopContainersResponseProto),
};
