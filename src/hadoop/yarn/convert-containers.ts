/** Containers, their reports and how they are launched ⇄ messages. */
import { type hadoop, yarn } from "../wire/yarn.ts";
import { containerStates, executionTypes, localResourceTypes, resourceVisibilities } from "./convert-enums.ts";
import { containerIdFromWire, nodeIdFromWire, toNumber } from "./convert-ids.ts";
import { resourceFromWire } from "./convert-resources.ts";
import { textFromWire } from "./convert-text.ts";
import { tokenFromWire } from "./convert-tokens.ts";
import type { Container, ContainerStatus, LaunchContext, LocalResource } from "./records.ts";

const noAllocationRequestId = -1;
const notEnded = -1000;

export function containerFromWire(message: hadoop.yarn.ContainerProto.$Properties): Container {
  return {
    id: containerIdFromWire(message.id),
    nodeId: nodeIdFromWire(message.nodeId),
    nodeHttpAddress: message.node_http_address ?? "",
    resource: resourceFromWire(message.resource),
    priority: message.priority?.priority ?? 0,
    allocationRequestId: toNumber(message.allocation_request_id ?? noAllocationRequestId),
    version: message.version ?? 0,
    executionType: executionTypes.fromWire(message.execution_type),
    ...(message.container_token ? { token: tokenFromWire(message.container_token) } : {}),
  };
}

export function containerStatusFromWire(message: hadoop.yarn.ContainerStatusProto.$Properties): ContainerStatus {
  return {
    containerId: containerIdFromWire(message.container_id),
    state: containerStates.fromWire(message.state),
    exitStatus: message.exit_status ?? notEnded,
    diagnostics: textFromWire(message.diagnostics),
  };
}

export function launchContextToWire(launch: LaunchContext): hadoop.yarn.ContainerLaunchContextProto.$Properties {
  const { localResources = {}, environment = {}, commands, credentials = new Uint8Array(0), acls = {} } = launch;
  const { viewers, modifiers } = acls;
  const access = yarn.ApplicationAccessTypeProto;
  return {
    localResources: Object.entries(localResources).map(([key, resource]) => ({
      key,
      value: localResourceToWire(resource),
    })),
    environment: Object.entries(environment).map(([key, value]) => ({ key, value })),
    command: [...commands],
    ...(credentials.length === 0 ? {} : { tokens: credentials }),
    ...(launch.tokensConf === undefined ? {} : { tokens_conf: launch.tokensConf }),
    application_ACLs: [
      ...(viewers === undefined ? [] : [{ accessType: access.APPACCESS_VIEW_APP, acl: viewers }]),
      ...(modifiers === undefined ? [] : [{ accessType: access.APPACCESS_MODIFY_APP, acl: modifiers }]),
    ],
  };
}

/** org.apache.hadoop.yarn.api.records.URL: a HA file system's nameservice stands for the host and has no port. */
function localResourceToWire(resource: LocalResource): hadoop.yarn.LocalResourceProto.$Properties {
  const { scheme, userInfo, host, port, path } = resource.url;
  return {
    resource: {
      scheme,
      file: path,
      ...(host === "" ? {} : { host }),
      ...(port > 0 ? { port } : {}),
      ...(userInfo === undefined ? {} : { userInfo }),
    },
    size: resource.sizeBytes,
    timestamp: resource.modificationTimeMs,
    type: localResourceTypes.toWire(resource.type),
    visibility: resourceVisibilities.toWire(resource.visibility),
  };
}
