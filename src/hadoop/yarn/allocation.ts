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
 * One row of what an application still wants (org.apache.hadoop.yarn.api.records.ResourceRequest). `count` is the whole number
 * outstanding under this row's key (priority, resource name, capability, execution type, allocation request id), never a difference;
 * 0 withdraws the row.
 */
export interface ResourceRequest {
  readonly priority: number;
  /** `*`, a rack (`/default-rack`) or a host. A row for a host needs rows for its rack and for `*` in the same call. */
  readonly resourceName: string;
  readonly capability: Resource;
  readonly count: number;
  /** Whether other places are taken when the named one is full. Default true. */
  readonly relaxLocality?: boolean;
  /** On the `*` row only. */
  readonly nodeLabelExpression?: string;
  readonly executionType?: ExecutionType;
  /** Comes back in the containers given for this row; −1 when absent. */
  readonly allocationRequestId?: number;
}

/**
 * Containers whose place is constrained (org.apache.hadoop.yarn.api.records.SchedulingRequest, since Hadoop 3.1; an older ResourceManager
 * does not see it). `count` is the whole number outstanding under its priority, 0 withdraws it; a ResourceManager whose handler is
 * `placement-processor` adds it to what it was asked for before. All but the count stays as it was first said.
 */
export interface SchedulingRequest {
  /** Of no ResourceRequest. */
  readonly priority: number;
  readonly capability: Resource;
  readonly count: number;
  /** By which constraints name these containers. */
  readonly tags: readonly string[];
  readonly constraint?: PlacementConstraint;
  /** Not beside a composite constraint, where the ResourceManager does not look for it (SingleConstraintAppPlacementAllocator). */
  readonly nodeLabel?: string;
}

/** So many containers of a SchedulingRequest will not come: the handler `placement-processor` has tried as often as it does. */
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
 * `memory`: that alone, as CapacityScheduler with Hadoop's default, DefaultResourceCalculator; it gives out more cores than nodes have.
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.YarnScheduler#getSchedulingResourceTypes)
 */
export type CountedResources = "all" | "memory";

/** The answer to `registerApplicationMaster`. */
export interface Registration {
  /** False when the ResourceManager had registered the attempt and its answer was lost: what only that answer tells is missing then. */
  readonly answered: boolean;
  /** The largest container that it gives. */
  readonly maximum?: Resource;
  readonly queue: string;
  readonly resourceTypes: readonly ResourceType[];
  /** What the scheduler counts when it gives out nodes. */
  readonly counted: CountedResources;
  /** Running containers that an earlier attempt left, when containers are kept. */
  readonly containersFromPreviousAttempts: readonly Container[];
  readonly nodeTokens: readonly NodeToken[];
  /** Signs the passwords of client-to-AM tokens; only on secured clusters. */
  readonly clientToAmMasterKey?: Uint8Array;
}

/**
 * YARN's notice that it wants resources back. CapacityScheduler fills `negotiable.containers`, once; FairScheduler `strict`.
 * The containers are killed some seconds later, or never.
 */
export interface PreemptionMessage {
  /** These will be taken. */
  readonly strict: readonly ContainerId[];
  /** Either `containers` or others worth `resources` will be taken. */
  readonly negotiable: {
    readonly containers: readonly ContainerId[];
    readonly resources: readonly ResourceRequest[];
  };
}

/** What one heartbeat brought (org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse). */
export interface Allocation {
  readonly allocated: readonly Container[];
  readonly completed: readonly ContainerStatus[];
  readonly rejected: readonly RejectedRequest[];
  /** Changes only, never the whole list. */
  readonly updatedNodes: readonly NodeReport[];
  /** Headroom of the application in its queue. */
  readonly available: Resource;
  readonly clusterNodeCount: number;
  readonly preemption?: PreemptionMessage;
  /** New tokens; each is sent once. */
  readonly nodeTokens: readonly NodeToken[];
  /** Containers of earlier attempts that were found late, after a restart of the ResourceManager. */
  readonly containersFromPreviousAttempts: readonly Container[];
  readonly applicationPriority?: number;
}

/**
 * A heartbeat either brings an allocation, or says that the ResourceManager has forgotten this attempt's registration (`resync`:
 * register again, everything outstanding is then asked for again), or that the attempt is over (`shutdown`: end, touching nothing).
 */
export type HeartbeatOutcome =
  | { readonly kind: "allocation"; readonly allocation: Allocation }
  | { readonly kind: "resync"; readonly reason: string }
  | { readonly kind: "shutdown"; readonly reason: string };

/** How an application ended, as its ApplicationMaster says. */
export interface FinishRequest {
  readonly status: FinalStatus;
  readonly diagnostics: string;
  readonly trackingUrl: string;
}
