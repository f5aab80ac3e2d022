import type { FileUrl } from "../hdfs/file-url.ts";
import type { Token } from "../security/token.ts";

/**
 * YARN's records as plain data. Ids are in their printed form (`application_<clusterTimestamp>_<0001>`), because a container id of a
 * long-lived ResourceManager does not fit a JavaScript number; the wire forms stay inside the clients.
 */

/** `application_1795305600000_0001`, as org.apache.hadoop.yarn.api.records.ApplicationId prints it. */
export type ApplicationId = string;
/** `appattempt_1795305600000_0001_000001` */
export type ApplicationAttemptId = string;
/** `container_e01_1795305600000_0001_01_000002`; without `e01_` in epoch 0. */
export type ContainerId = string;
/** `host:port` of a NodeManager: the key of NMTokens. */
export type NodeId = string;

/** Amounts of all resources that YARN schedules. */
export interface Resource {
  readonly memoryMiB: number;
  readonly vcores: number;
  /** Other resource types by name (`yarn.io/gpu`), in the type's base unit. Types of amount 0 may be absent. */
  readonly others: Readonly<Record<string, number>>;
}

/** A resource type that the ResourceManager knows. */
export interface ResourceType {
  readonly name: string;
  /** YARN's unit: "", "Mi", "G", … */
  readonly units: string;
}

/**
 * org.apache.hadoop.yarn.api.records.ExecutionType: an OPPORTUNISTIC container may be queued at its node, or be killed to make room for
 * others.
 */
export type ExecutionType = "GUARANTEED" | "OPPORTUNISTIC";

/** A container allocated to an application. */
export interface Container {
  readonly id: ContainerId;
  readonly nodeId: NodeId;
  /** `host:port` of the node's web server, without a scheme. */
  readonly nodeHttpAddress: string;
  readonly resource: Resource;
  /** The priority of the request that it answers; 0 is the highest. */
  readonly priority: number;
  /** −1 when the request had none. */
  readonly allocationRequestId: number;
  readonly version: number;
  readonly executionType: ExecutionType;
  /** Absent in reports; required to start the container. */
  readonly token?: Token;
}

/** org.apache.hadoop.yarn.api.records.ContainerState */
export type ContainerState = "NEW" | "RUNNING" | "COMPLETE";

/** A container's state, or how it ended (org.apache.hadoop.yarn.api.records.ContainerStatus). */
export interface ContainerStatus {
  readonly containerId: ContainerId;
  readonly state: ContainerState;
  /** See ContainerExitStatus; −1000 while it has not ended. */
  readonly exitStatus: number;
  readonly diagnostics: string;
}

/** org.apache.hadoop.yarn.api.records.ContainerExitStatus */
export const ContainerExitStatus = {
  success: 0,
  invalid: -1000,
  /** released by the application, allocation expired, or node lost */
  aborted: -100,
  disksFailed: -101,
  preempted: -102,
  killedExceedingVirtualMemory: -103,
  killedExceedingPhysicalMemory: -104,
  killedByApplicationMaster: -105,
  killedByResourceManager: -106,
  killedAfterApplicationCompletion: -107,
  killedByContainerScheduler: -108,
  killedForExcessLogs: -109,
} as const;

/** org.apache.hadoop.yarn.api.records.NodeState */
export type NodeState =
  | "NEW"
  | "RUNNING"
  | "UNHEALTHY"
  | "DECOMMISSIONED"
  | "LOST"
  | "REBOOTED"
  | "DECOMMISSIONING"
  | "SHUTDOWN";

/** A NodeManager as the ResourceManager sees it (org.apache.hadoop.yarn.api.records.NodeReport). */
export interface NodeReport {
  readonly nodeId: NodeId;
  readonly host: string;
  readonly httpAddress: string;
  readonly rack: string;
  readonly state: NodeState;
  readonly used: Resource;
  readonly capability: Resource;
  readonly containerCount: number;
  readonly labels: readonly string[];
  readonly healthReport: string;
  /**
   * For a node that is DECOMMISSIONING: the total time until it leaves, whether or not containers still run; absent: it leaves when they
   * have ended.
   */
  readonly decommissioningTimeoutS?: number;
}

/** A container that an application holds (org.apache.hadoop.yarn.api.records.ContainerReport). */
export interface ContainerReport {
  readonly containerId: ContainerId;
  readonly nodeId: NodeId;
  readonly resource: Resource;
}

/** org.apache.hadoop.yarn.api.records.YarnApplicationState */
export type ApplicationState =
  | "NEW"
  | "NEW_SAVING"
  | "SUBMITTED"
  | "ACCEPTED"
  | "RUNNING"
  | "FINISHED"
  | "FAILED"
  | "KILLED";
/** The final status that the ApplicationMaster reported (org.apache.hadoop.yarn.api.records.FinalApplicationStatus). */
export type FinalStatus = "UNDEFINED" | "SUCCEEDED" | "FAILED" | "KILLED" | "ENDED";

/** An application as the ResourceManager sees it (org.apache.hadoop.yarn.api.records.ApplicationReport). */
export interface ApplicationReport {
  readonly id: ApplicationId;
  readonly user: string;
  readonly name: string;
  readonly queue: string;
  readonly type: string;
  readonly tags: readonly string[];
  readonly state: ApplicationState;
  readonly finalStatus: FinalStatus;
  readonly currentAttemptId?: ApplicationAttemptId;
  /** The address that the AM registered; absent before that, where YARN says "N/A" and −1. */
  readonly amHost?: string;
  readonly amRpcPort?: number;
  /** At YARN's proxy; for an unmanaged application, wherever its owner says. */
  readonly trackingUrl: string;
  /** The proxy fetches its ApplicationMaster's page by HTTPS. */
  readonly servesHttps?: true;
  /** Its ApplicationMaster does not run in one of the cluster's containers. */
  readonly unmanaged?: boolean;
  readonly diagnostics: string;
  /** Milliseconds since the epoch; 0 if it has not happened yet. */
  readonly startTimeMs: number;
  readonly launchTimeMs: number;
  readonly finishTimeMs: number;
  /** 0 to 1 */
  readonly progress: number;
  readonly priority: number;
  readonly usage?: {
    readonly usedContainers: number;
    readonly used: Resource;
    readonly needed: Resource;
    /** MiB·s and core·s so far */
    readonly memorySeconds: number;
    readonly vcoreSeconds: number;
    readonly resourceSeconds: Readonly<Record<string, number>>;
  };
}

/** org.apache.hadoop.yarn.api.records.QueueState */
export type QueueState = "STOPPED" | "RUNNING" | "DRAINING";

/** What the caller may do in a queue. */
export type QueueAcl = "SUBMIT_APPLICATIONS" | "ADMINISTER_QUEUE";

/** A node label of the cluster. */
export interface NodeLabel {
  readonly name: string;
  /** Whether nodes with it accept only containers that ask for it. */
  readonly exclusive: boolean;
}

/** A queue, with its children and applications if they were requested (org.apache.hadoop.yarn.api.records.QueueInfo). */
export interface QueueInfo {
  readonly name: string;
  readonly path: string;
  readonly state: QueueState;
  /** Shares of the parent, 0 to 1. */
  readonly capacity: number;
  readonly maximumCapacity: number;
  readonly currentCapacity: number;
  /** Its limit on the nodes with each label, "" for those without one; absent where the ResourceManager does not report it. */
  readonly mostByLabel: Readonly<Record<string, Resource>>;
  readonly accessibleNodeLabels: readonly string[];
  readonly defaultNodeLabel: string;
  readonly applications: readonly ApplicationReport[];
  readonly children: readonly QueueInfo[];
}

/** Numbers of NodeManagers (org.apache.hadoop.yarn.api.records.YarnClusterMetrics). */
export interface ClusterMetrics {
  readonly nodeManagers: number;
  readonly activeNodeManagers: number;
  readonly lostNodeManagers: number;
  readonly unhealthyNodeManagers: number;
}

/** A file or archive that NodeManagers download before a container starts. Size and time must equal the file's exactly. */
export interface LocalResource {
  readonly url: FileUrl;
  readonly sizeBytes: number;
  readonly modificationTimeMs: number;
  readonly type: "FILE" | "ARCHIVE" | "PATTERN";
  readonly visibility: "PUBLIC" | "PRIVATE" | "APPLICATION";
}

/** org.apache.hadoop.yarn.api.records.ContainerLaunchContext */
export interface LaunchContext {
  /** By the name of the link in the container's working directory; default none. */
  readonly localResources?: Readonly<Record<string, LocalResource>>;
  /** Default none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Joined by spaces and run by bash; `<LOG_DIR>` is replaced. */
  readonly commands: readonly string[];
  /** A token file's bytes (HDTS), see writeTokenFile; default none. */
  readonly credentials?: Uint8Array;
  /** For an ApplicationMaster only: see tokensConf. */
  readonly tokensConf?: Uint8Array | undefined;
  readonly acls?: { readonly viewers?: string; readonly modifiers?: string };
}
