import type { ExecutorReport } from "../../../src/api/messages.ts";
import type { AwayState } from "../../../src/job/cluster-nodes.ts";
import type { ContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import type { ExecutorRegistration } from "../../../src/job/execution.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Resource } from "../../../src/job/spec.ts";

export type { ChildExit, ChildReport, ExecutorRegistration } from "../../../src/job/execution.ts";

/**
 * Everything that can happen to a job, as the core hears of it. Events about a container name it, and its generation where that may be
 * over by the time they arrive; stale events are ignored in one place.
 */

/** A machine on which containers can be asked for. */
export interface NodeView {
  readonly nodeId: string;
  readonly host: string;
  readonly rack: string;
  readonly usable: boolean;
  /** Absent: it runs, or its state is not known. */
  readonly state?: AwayState;
  /** The NodeManager's own report, where the node is not usable because it is unhealthy. */
  readonly healthReport?: string;
  /** It is being taken out of the cluster: after the time-out, or when its containers have ended where none is given. */
  readonly decommissioning?: { readonly timeoutMs?: number };
  readonly labels: readonly string[];
  /** Its label is not exclusive: asks without a label get what those for the label leave. */
  readonly nonExclusive?: true;
  /** Last known free resources; absent when unknown. */
  readonly free?: Resource;
  /** Everything that it has for containers; absent when unknown. */
  readonly total?: Resource;
  /**
   * The share of it, and of all nodes with its label, that the job's queue may have at most, as fractions of 1; absent where that is all.
   */
  readonly queueShare?: Resource;
  /** What the ApplicationMaster's own container takes of it; absent on every other node. */
  readonly master?: Resource;
}

/**
 * `memory`: the scheduler gives out nodes by their memory alone, whatever cores they have. `all-but-cores`: of this machine's own
 * scheduler, which may run more tasks than the machine has cores.
 */
export type CountedResources = "all" | "all-but-cores" | "memory";

export interface AllocatedContainer {
  readonly containerId: string;
  readonly nodeId: string;
  readonly host: string;
  readonly nodeHttpAddress: string;
  /** The priority of the ask that it answers: one per role. */
  readonly priority: number;
  /** What was really granted: schedulers round up. */
  readonly resource: Resource;
}

/** A message of proto/tony, and whose it is. */
type Report<T extends ExecutorReport["type"]> = Extract<ExecutorReport, { readonly type: T }> & {
  readonly task: string;
  readonly containerId: string;
};

export type Event =
  | {
      readonly type: "am-registered";
      readonly attempt: number;
      readonly counted: CountedResources;
      /** Resource types that the cluster knows besides memory and vcores. */
      readonly resourceTypes: readonly string[];
    }
  /** A later attempt: the newest readable journal (or none), and the containers that YARN kept. */
  | { readonly type: "recovered"; readonly journal?: unknown; readonly keptContainers: readonly AllocatedContainer[] }
  /** Containers of an earlier attempt whose node re-registered with a restarted ResourceManager only after this attempt had. */
  | { readonly type: "containers-recovered-late"; readonly containers: readonly AllocatedContainer[] }
  | { readonly type: "nodes-changed"; readonly nodes: readonly NodeView[] }
  /** What is left for this application in its queue; changes seldom. */
  | { readonly type: "headroom-changed"; readonly available: Resource }
  | { readonly type: "containers-allocated"; readonly containers: readonly AllocatedContainer[] }
  | {
      readonly type: "container-completed";
      readonly containerId: string;
      /** org.apache.hadoop.yarn.api.records.ContainerExitStatus */
      readonly exitStatus: number;
      readonly diagnostics: ContainerDiagnostics;
    }
  | { readonly type: "preemption-notice"; readonly containerIds: readonly string[]; readonly strict: boolean }
  | { readonly type: "launch-succeeded"; readonly containerId: string }
  | {
      readonly type: "launch-failed";
      readonly containerId: string;
      readonly message: string;
      /** The node is to blame (unreachable, disk), rather than the request. */
      readonly nodeAtFault: boolean;
    }
  | ({ readonly type: "executor-registered" } & ExecutorRegistration)
  | { readonly type: "executor-silent"; readonly task: string; readonly containerId: string; readonly silentMs: number }
  | { readonly type: "executor-back"; readonly task: string; readonly containerId: string }
  | {
      readonly type: "executor-lost";
      readonly task: string;
      readonly containerId: string;
      readonly cause: "stream-broken" | "goodbye";
    }
  | (Report<"child-started" | "child-place" | "child-exited" | "child-progress"> & { readonly generation: number })
  | Report<"transfer" | "service-announced">
  /** The time that was asked for has come, or is past. */
  | { readonly type: "wake-up" }
  /** This ApplicationMaster stood still for a while; hearing nothing meanwhile says nothing about executors. */
  | { readonly type: "paused" }
  | { readonly type: "stop-requested"; readonly reason: string }
  /** Optuna proposes what a trial of a search is to try. */
  | { readonly type: "trial-proposed"; readonly number: number; readonly params: Parameters }
  /** Optuna cannot be asked any more. `hasRun`: the interpreter that asks it could be started. */
  | { readonly type: "proposals-failed"; readonly problem: string; readonly hasRun: boolean }
  | { readonly type: "resource-manager-resynced" }
  | { readonly type: "resource-manager-shutdown"; readonly reason: string }
  /** The ask is refused (an unknown label or resource type): waiting cannot help. */
  | { readonly type: "ask-refused"; readonly message: string }
  /** The cluster does not accept placement constraints. */
  | { readonly type: "constraints-refused"; readonly message: string }
  /** So many containers of a role have at present no place that their constraint allows; YARN no longer looks for any. */
  | { readonly type: "ask-unplaced"; readonly role: string; readonly count: number }
  /** A role's containers are larger than any that YARN gives. */
  | {
      readonly type: "ask-too-large";
      readonly role: string;
      readonly message: string;
      /** The largest with the nodes registered now; absent when YARN does not say. */
      readonly allowed?: Resource;
      /** The largest with any nodes; absent when YARN does not say. */
      readonly configured?: Resource;
    }
  | { readonly type: "journal-written"; readonly sequence: number }
  | { readonly type: "journal-failed"; readonly sequence: number; readonly message: string }
  | { readonly type: "unregistered"; readonly isPutDown: boolean };
