import type { ApplicationId, ApplicationState, LaunchContext, Resource } from "./records.ts";

/** Which of an application's log files are aggregated, and when (org.apache.hadoop.yarn.api.records.LogAggregationContext). */
export interface LogAggregation {
  /** Regular expressions over file names, for the aggregation at the end. */
  readonly include?: string;
  readonly exclude?: string;
  /** The same for files that are aggregated while the application runs. YARN's own default excludes everything. */
  readonly rolledInclude?: string;
  readonly rolledExclude?: string;
  /** Java class and parameters of the policy that chooses containers. */
  readonly policyClass?: string;
  readonly policyParameters?: string;
}

/** The description of a new application (org.apache.hadoop.yarn.api.records.ApplicationSubmissionContext). */
export interface SubmissionContext {
  readonly id: ApplicationId;
  readonly name: string;
  readonly queue: string;
  /** How the ApplicationMaster's container is started. An unmanaged one has an empty context. */
  readonly masterLaunch: LaunchContext;
  readonly masterResource: Resource;
  /** Label of the node for the ApplicationMaster; absent: the queue's default. */
  readonly masterNodeLabel?: string;
  /** Label for all containers whose own request names none. */
  readonly nodeLabelExpression?: string;
  /** At most 20 characters; "YARN" when absent. */
  readonly type?: string;
  readonly tags?: readonly string[];
  /** Among the applications of a queue; higher goes first. */
  readonly priority?: number;
  /** Limited by the cluster's own maximum, which also applies when this is absent. */
  readonly maxAppAttempts?: number;
  /** Only attempts that failed within this time count towards the maximum. */
  readonly attemptFailuresValidityIntervalMs?: number;
  /** Containers keep running when an attempt of the ApplicationMaster ends and another follows. */
  readonly keepContainers?: boolean;
  readonly logAggregation?: LogAggregation;
  /** YARN kills the application when it has lived this long. */
  readonly lifetimeSeconds?: number;
  /** False leaves delegation tokens valid when the application ends. Default true. */
  readonly cancelTokensWhenComplete?: boolean;
  /** The submitter runs the ApplicationMaster itself; YARN starts none. */
  readonly unmanaged?: boolean;
  /** Specific to the scheduler, passed through. */
  readonly schedulingProperties?: Readonly<Record<string, string>>;
}

/** The answer of `getNewApplication`. */
export interface NewApplication {
  readonly id: ApplicationId;
  /** The largest container that the cluster allocates. */
  readonly maximum: Resource;
}

/** Restricts a listing of applications. Each list names alternatives; an absent or empty one restricts nothing. */
export interface ApplicationFilter {
  readonly types?: readonly string[];
  readonly states?: readonly ApplicationState[];
  readonly users?: readonly string[];
  readonly queues?: readonly string[];
  readonly tags?: readonly string[];
  readonly name?: string;
  readonly limit?: number;
  /** Milliseconds since the epoch, both ends included; either may be absent. */
  readonly startedMs?: TimeRange;
  readonly finishedMs?: TimeRange;
  /** "OWN": the caller's; "VIEWABLE": those the caller may view; default all. */
  readonly scope?: "ALL" | "VIEWABLE" | "OWN";
}

/** Milliseconds since the epoch; an absent end is open. */
export interface TimeRange {
  readonly from?: number;
  readonly to?: number;
}
