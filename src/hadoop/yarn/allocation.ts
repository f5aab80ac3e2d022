import type { Token } from "../security/token.ts";
import type { PlacementConstraint } from "./placement-constraint.ts";
import type {
  Container,
  ContainerId,
  ContainerStatus,
  ExecutionType,
  FinalStatus,
  NodeId,
  NodeReport,
  Resource,
  ResourceType,
} from "./records.ts";

/**
 * One row of an application's outstanding requests (org.apache.hadoop.yarn.api.records.ResourceRequest). `count` is the total outstanding
 * under this row's key (priority, resource name, capability, execution type, allocation request id), never a difference; 0 withdraws the
 * row.
 */
export interface ResourceRequest {
  readonly priority: number;
  /** `*`, a rack (`/default-rack`) or a host. A row for a host needs rows for its rack and for `*` in the same call. */
  readonly resourceName: string;
  readonly capability: Resource;
  readonly count: number;
  /** Whether other places are accepted when the named one is full. Default true. */
  readonly relaxLocality?: boolean;
  /** On the `*` row only. */
  readonly nodeLabelExpression?: string;
  readonly executionType?: ExecutionType;
  /** Returned with the containers allocated for this row; −1 when absent. */
  readonly allocationRequestId?: number;
}

/**
 * Containers with a placement constraint (org.apache.hadoop.yarn.api.records.SchedulingRequest, since Hadoop 3.1; an older ResourceManager
 * ignores it). `count` is the total outstanding under its priority, and 0 withdraws it; a ResourceManager with the handler
 * `placement-processor` adds it to what was asked for before. Everything but the count stays as first sent.
 */
export interface SchedulingRequest {
  /** Not used by any ResourceRequest. */
  readonly priority: number;
  readonly capability: Resource;
  readonly count: number;
  /** The tags by which constraints refer to these containers. */
  readonly tags: readonly string[];
  readonly constraint?: PlacementConstraint;
  /** Not with a composite constraint, in which the ResourceManager does not look for it (SingleConstraintAppPlacementAllocator). */
  readonly nodeLabel?: string;
}

/** This many containers of a SchedulingRequest will not be allocated: the handler `placement-processor` has used up its tries. */
export interface RejectedRequest {
  readonly priority: number;
  readonly count: number;
  readonly reason: "could not place" | "could not schedule";
}

/** What the ApplicationMaster tells the ResourceManager about itself. */
export interface MasterRegistration {
  readonly host: string;
  readonly rpcPort: number;
  readonly trackingUrl: string;
}

/** The token that opens a NodeManager to this application attempt. */
export interface NodeToken {
  readonly nodeId: NodeId;
  readonly token: Token;
}

/**
 * `memory`: the scheduler counts only memory, as CapacityScheduler does with Hadoop's default, DefaultResourceCalculator, and allocates
 * more cores than nodes have (org.apache.hadoop.yarn.server.resourcemanager.scheduler.YarnScheduler#getSchedulingResourceTypes).
 */
export type CountedResources = "all" | "memory";

/** The answer to `registerApplicationMaster`. */
export interface Registration {
  /**
   * False when the ResourceManager had already registered the attempt and its answer was lost: facts that only that answer contains are
   * then missing.
   */
  readonly answered: boolean;
  /** The largest container that the ResourceManager allocates. */
  readonly maximum?: Resource;
  readonly queue: string;
  readonly resourceTypes: readonly ResourceType[];
  /** The resources that the scheduler counts when it allocates. */
  readonly counted: CountedResources;
  /** Running containers that an earlier attempt left, if containers are kept across attempts. */
  readonly containersFromPreviousAttempts: readonly Container[];
  readonly nodeTokens: readonly NodeToken[];
  /** Signs the passwords of client-to-AM tokens; only on secured clusters. */
  readonly clientToAmMasterKey?: Uint8Array;
}

/**
 * YARN's notice that it wants resources back. CapacityScheduler fills `negotiable.containers`, once; FairScheduler fills `strict`. The
 * containers are killed some seconds later, or never.
 */
export interface PreemptionMessage {
  /** These will be taken back. */
  readonly strict: readonly ContainerId[];
  /** Either `containers` or others worth `resources` will be taken back. */
  readonly negotiable: {
    readonly containers: readonly ContainerId[];
    readonly resources: readonly ResourceRequest[];
  };
}

/** The result of one heartbeat (org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse). */
export interface Allocation {
  readonly allocated: readonly Container[];
  readonly completed: readonly ContainerStatus[];
  readonly rejected: readonly RejectedRequest[];
  /** Only the changes, never the whole list. */
  readonly updatedNodes: readonly NodeReport[];
  /** Headroom of the application in its queue. */
  readonly available: Resource;
  readonly clusterNodeCount: number;
  readonly preemption?: PreemptionMessage;
  /** New tokens; each is sent once. */
  readonly nodeTokens: readonly NodeToken[];
  /** Containers of earlier attempts that the ResourceManager recovered late, after its restart. */
  readonly containersFromPreviousAttempts: readonly Container[];
  readonly applicationPriority?: number;
}

/**
 * A heartbeat either returns an allocation, or reports that the ResourceManager has forgotten this attempt's registration (`resync`:
 * register again; everything outstanding is then requested again), or that the attempt is over (`shutdown`: exit without touching
 * anything).
 */
export type HeartbeatOutcome =
  | { readonly kind: "allocation"; readonly allocation: Allocation }
  | { readonly kind: "resync"; readonly reason: string }
  | { readonly kind: "shutdown"; readonly reason: string };

/** How the ApplicationMaster says that its application ended. */
export interface FinishRequest {
  readonly status: FinalStatus;
  readonly diagnostics: string;
  readonly trackingUrl: string;
}
