import type { PlacementConstraint } from "../hadoop/yarn/placement-constraint.ts";
import type { Resource } from "../hadoop/yarn/records.ts";
import type { FeedSpec } from "./feeds/feed-spec.ts";
import type { KeyValue, SectionOf } from "./keys.ts";
import type { Search } from "./search/trials.ts";
import type { TaskId } from "./task.ts";

export type { Resource };

/**
 * What a job is, after every check that needs no cluster: plain, immutable JSON, made once by the client and shared by client,
 * ApplicationMaster and executor. Durations are in milliseconds, memory in MiB; a wait that is switched off is absent.
 *
 * Fields that are the value of one key come from the table of keys (`SectionOf`), which describes them; `nodeLabel` is already applied to
 * `am` and `roles`.
 */
export interface JobSpec extends SectionOf<"job"> {
  readonly specVersion: 2;
  readonly am: AmSpec;
  /** Whether tasks of an elastic role continue when the program of one exits by itself with a code other than 0. */
  readonly outlivesExits?: true;
  /** In the order of the job file; at least one. */
  readonly roles: readonly RoleSpec[];
  /** The task whose output people follow: `chief:0`, else `worker:0`, else the first tracked role's first task. */
  readonly leadTask: TaskId;
  /** The task that gets a port for TensorBoard: the `tensorboard` role's, else the lead task. */
  readonly tensorBoardTask: TaskId;
  /** The files in the working directory of every task's container. */
  readonly files: readonly FileToShip[];
  /** Environment of the containers: executors (and through them programs) and the ApplicationMaster. */
  readonly containerEnvironment: Readonly<Record<string, string>>;
  readonly carrier?: CarrierSpec;
  readonly search?: Search;
  /**
   * In a search whose trials are gangs of the job's roles: the number of trials. Absent: each trial is a task of the only role, if it is a
   * search.
   */
  readonly trials?: number;
  readonly feeds?: readonly FeedSpec[];
  readonly groupLimits: readonly GroupLimit[];
  readonly failure: FailureSpec;
  readonly timeouts: Timeouts;
  readonly preemption: SectionOf<"preemption">;
  /** The ports that this project's programs and the job's may listen on; absent: any free port. */
  readonly ports: SectionOf<"ports">;
  readonly history: SectionOf<"history">;
  readonly logs: SectionOf<"logs">;
  readonly metrics: SectionOf<"metrics">;
  /** Where each setting was made, for messages: `tony.worker.memory` → `job.xml:16`. Defaults are not listed. */
  readonly sources: Readonly<Record<string, string>>;
}

/** How long a role may run on after the last task of a group of roles has ended. */
export interface GroupLimit {
  readonly role: string;
  readonly group: string;
  /** The group's roles. */
  readonly roles: readonly string[];
  readonly limitMs: number;
  /** `fail`: fail the job when it takes longer; `untrack`: stop waiting for the role. */
  readonly atLimit: "fail" | "untrack";
}

export type Framework = KeyValue<"tony.application.framework">;
/** `gang`: nothing starts before every task has registered; `fcfs`: each task starts when it can, without a cluster spec. */
export type DistributedMode = KeyValue<"tony.application.distributed-mode">;
/**
 * - `tracked`: the job ends when these have ended
 * - `untracked`: not awaited, stopped when the tracked ones are done; a failure counts
 * - `sidecar`: not awaited, a failure is ignored
 */
export type Tracking = "tracked" | "untracked" | "sidecar";
export type LogLevel = KeyValue<"tony.am.log-level">;

export interface AmSpec extends SectionOf<"am"> {
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** As for a role. */
  readonly image?: ImageVariables;
  /** The files in its container, which gets none of the tasks' files. */
  readonly files: readonly FileToShip[];
}

export interface RoleSpec extends SectionOf<"role"> {
  readonly name: string;
  readonly instances: number;
  /** The resource of each container. */
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** The variables that tell NodeManagers the image of its containers; absent: none. */
  readonly image?: ImageVariables;
  /** Absent: YARN may place its containers anywhere, and no constraint refers to them. */
  readonly constrained?: Constrained;
  /** Run by `bash -c` in the container's working directory. */
  readonly command: string;
  /** Environment of the program alone (TonY's execution environment), on top of the container's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tracking: Tracking;
  /** A failure of any instance ends the job at once, even if there is budget left. */
  readonly stopOnFailure: boolean;
  /** Which of its tasks are chiefs: all of role `chief`; the first of `worker` where there is no role `chief`; otherwise none. */
  readonly chief: "all" | "first" | "none";
  /** The port is held with SO_REUSEPORT while the program runs, for programs that open it with that option (TF_GRPC_REUSE_PORT). */
  readonly reusePort: boolean;
  /** The files in its containers, in addition to the job's. */
  readonly files: readonly FileToShip[];
  /** Its one task runs in the ApplicationMaster's container: either the job's only task, or one that prepares the others. */
  readonly inMaster?: true;
  /** Roles whose tracked tasks must be done before this role's containers are requested; absent: none. */
  readonly dependsOn?: readonly string[];
}

/** Environment variables that tell a NodeManager to run a container in an image, and how. */
export type ImageVariables = Readonly<Record<string, string>>;

/** What YARN is asked for in a SchedulingRequest instead of ResourceRequests. */
export interface Constrained {
  readonly tags: readonly string[];
  readonly constraint?: PlacementConstraint;
}

/** One `SOURCE[::NAME][#archive]` of the job. */
export interface FileToShip {
  /** An absolute local path, or a URL whose scheme Hadoop knows. */
  readonly source: string;
  /** The name in the container's working directory. */
  readonly name: string;
  /**
   * - `file`: unchanged
   * - `archive`: unpacked into a directory of that name; a local directory is packed first
   * - `working-directory`: an archive, or local directory, whose entries appear in the working directory itself
   */
  readonly as: "file" | "archive" | "working-directory";
}

/** What executors upload from their containers. Local folders are relative to the container's working directory. */
export interface CarrierSpec extends SectionOf<"carrier"> {
  /** Uploaded to `checkpointDir` and downloaded from it; `keep` is the number kept there for each task. */
  readonly checkpoints?: { readonly localDir: string; readonly keep: number };
  readonly output?: { readonly localDir: string; readonly dir: string };
  /** The limit of one executor; absent: none. */
  readonly bytesPerSecond?: number;
}

export interface FailureSpec extends SectionOf<"failure"> {
  /** `fail`: a tracked task that ends badly when its budget is used up fails the job. `tolerate`: only if every tracked task did. */
  readonly onWorkerFailure: "fail" | "tolerate";
  /** How many restarts of a generation each class of failure may cause. */
  readonly budgets: SectionOf<"failure.budgets">;
  /** The first restart is immediate, the second waits `initialMs`, each further one twice as long up to `maxMs`. */
  readonly backOff: SectionOf<"failure.backOff">;
  /** The numbers of failures of a machine after which the container is replaced, the node excluded, the job failed. */
  readonly blame: SectionOf<"failure.blame">;
}

export interface Timeouts extends SectionOf<"timeouts"> {
  /** An executor that has sent no message for this long is lost. */
  readonly heartbeatExpiryMs: number;
  /** How long the other tasks' exits are awaited before the cause of a failure is decided. */
  readonly verdictMs: number;
  /** An executor without an ApplicationMaster for this long ends its program. */
  readonly orphanMs: number;
}

/** Inclusive at both ends. */
export type PortRange = NonNullable<KeyValue<"tony.am.port-range">>;

/** The archive that contains the file: one with that name, else the one that is unpacked into the working directory itself. */
export function archiveOf(file: string, files: readonly FileToShip[]): FileToShip | undefined {
  const named = files.find(({ as, name }) => as === "archive" && file.startsWith(`${name}/`));
  return named ?? files.find(({ as }) => as === "working-directory");
}

/**
 * Whether a job's page at YARN's proxy shows everything to those who have its key. The key and the content cross the network unencrypted
 * there: on a secured cluster this is therefore only so on request.
 */
export function opensByKey({ page }: Pick<AmSpec, "page">, isSecured: boolean): boolean {
  return page ?? !isSecured;
}

/** How many tasks of a role the job has: in a search those of all trials. */
export function tasksOfRole(
  { trials = 1 }: Pick<JobSpec, "trials">,
  { instances }: Pick<RoleSpec, "instances">,
): number {
  return trials * instances;
}

/** How many tasks the job has. */
export function countTasks(spec: Pick<JobSpec, "trials" | "roles">): number {
  return spec.roles.reduce((sum, role) => sum + tasksOfRole(spec, role), 0);
}

/** The number of tasks with which a role can start: all, unless it is elastic. */
export function leastInstances({ minInstances, instances }: Pick<RoleSpec, "minInstances" | "instances">): number {
  return minInstances ?? instances;
}
