import type { PlacementConstraint } from "../hadoop/yarn/placement-constraint.ts";
import type { Resource } from "../hadoop/yarn/records.ts";
import type { FeedSpec } from "./feeds/feed-spec.ts";
import type { KeyValue, SectionOf } from "./keys.ts";
import type { Search } from "./search/trials.ts";
import type { TaskId } from "./task.ts";

export type { Resource };

/**
 * What a job is, after every check that needs no cluster: plain, immutable JSON, made once by the client and shared by client,
 * ApplicationMaster and executor. Durations are in milliseconds, memory in MiB; a wait that is off is absent.
 *
 * Fields that have the value of one key come from the table of keys (`SectionOf`), where their meaning is; `nodeLabel` is already applied
 * to `am` and `roles`.
 */
export interface JobSpec extends SectionOf<"job"> {
  readonly specVersion: 2;
  readonly am: AmSpec;
  /** Whether tasks of an elastic role go on when the program of one exits by itself with another code than 0. */
  readonly outlivesExits?: true;
  /** In the order of the job file; at least one. */
  readonly roles: readonly RoleSpec[];
  /** The task whose output people follow: `chief:0`, else `worker:0`, else the first tracked role's first task. */
  readonly leadTask: TaskId;
  /** The task that gets a port for TensorBoard: the `tensorboard` role's, else the lead task. */
  readonly tensorBoardTask: TaskId;
  /** What every task's container finds in its working directory. */
  readonly files: readonly FileToShip[];
  /** Environment of the containers: executors (and through them programs) and the ApplicationMaster. */
  readonly containerEnvironment: Readonly<Record<string, string>>;
  readonly carrier?: CarrierSpec;
  readonly search?: Search;
  /** Of a search whose trials are gangs of the job's roles: how many there are. Absent: each is a task of its one role, if it is a search. */
  readonly trials?: number;
  readonly feeds?: readonly FeedSpec[];
  readonly groupLimits: readonly GroupLimit[];
  readonly failure: FailureSpec;
  readonly timeouts: Timeouts;
  readonly preemption: SectionOf<"preemption">;
  /** Where the programs of this project and of the job may listen; absent: any free port. */
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
  /** `fail`: the job, when it takes longer; `untrack`: the job does not wait for the role any more. */
  readonly atLimit: "fail" | "untrack";
}

export type Framework = KeyValue<"tony.application.framework">;
/** `gang`: nothing starts before every task is registered; `fcfs`: each task starts when it can, without a cluster spec. */
export type DistributedMode = KeyValue<"tony.application.distributed-mode">;
/**
 * - `tracked`: the job ends when these have ended
 * - `untracked`: not waited for, stopped when the tracked ones are done; a failure counts
 * - `sidecar`: not waited for, a failure is ignored
 */
export type Tracking = "tracked" | "untracked" | "sidecar";
export type LogLevel = KeyValue<"tony.am.log-level">;

export interface AmSpec extends SectionOf<"am"> {
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** As that of a role. */
  readonly image?: ImageVariables;
  /** What its container finds; it gets none of the tasks' files. */
  readonly files: readonly FileToShip[];
}

export interface RoleSpec extends SectionOf<"role"> {
  readonly name: string;
  readonly instances: number;
  /** Of each container. */
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** What NodeManagers are told of the image of its containers; absent: none. */
  readonly image?: ImageVariables;
  /** Absent: YARN may place its containers anywhere, and no constraint names them. */
  readonly constrained?: Constrained;
  /** Run by `bash -c` in the container's working directory. */
  readonly command: string;
  /** Environment of the program alone (TonY's execution environment), over the container's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tracking: Tracking;
  /** A failure of any instance ends the job at once, whatever budget is left. */
  readonly stopOnFailure: boolean;
  /** Which of its tasks are chiefs: all of role `chief`; the first of `worker` where there is no role `chief`; else none. */
  readonly chief: "all" | "first" | "none";
  /** The port is held with SO_REUSEPORT while the program runs, for programs that open it so (TF_GRPC_REUSE_PORT). */
  readonly reusePort: boolean;
  /** What its containers find beside the job's. */
  readonly files: readonly FileToShip[];
  /** Its one task runs in the ApplicationMaster's container: the job's only one, or one that prepares the others. */
  readonly inMaster?: true;
  /** Roles whose tracked tasks must be done before its containers are asked for; absent: none. */
  readonly dependsOn?: readonly string[];
}

/** Variables of a container's environment by which a NodeManager knows that it is to run in an image, and how. */
export type ImageVariables = Readonly<Record<string, string>>;

/** What YARN is asked for by a SchedulingRequest instead of ResourceRequests. */
export interface Constrained {
  readonly tags: readonly string[];
  readonly constraint?: PlacementConstraint;
}

/** One `SOURCE[::NAME][#archive]` of the job. */
export interface FileToShip {
  /** A local path, absolute, or a URL whose scheme Hadoop knows. */
  readonly source: string;
  /** The name in the container's working directory. */
  readonly name: string;
  /**
   * - `file`: as it is
   * - `archive`: unpacked under a directory of that name; a local directory is packed first
   * - `working-directory`: an archive, or local directory, whose entries appear in the working directory itself
   */
  readonly as: "file" | "archive" | "working-directory";
}

/** What executors upload from their containers. Local folders are relative to the container's working directory. */
export interface CarrierSpec extends SectionOf<"carrier"> {
  /** Uploaded to `checkpointDir`, and downloaded from it; `keep` is how many are kept there for each task. */
  readonly checkpoints?: { readonly localDir: string; readonly keep: number };
  readonly output?: { readonly localDir: string; readonly dir: string };
  /** Of one executor; absent: no limit. */
  readonly bytesPerSecond?: number;
}

export interface FailureSpec extends SectionOf<"failure"> {
  /** `fail`: a tracked task that ends badly, its budget spent, fails the job. `tolerate`: only if every tracked task did. */
  readonly onWorkerFailure: "fail" | "tolerate";
  /** Restarts of a generation that each class of failure may cause. */
  readonly budgets: SectionOf<"failure.budgets">;
  /** The first restart is immediate, the second waits `initialMs`, each further one twice as long up to `maxMs`. */
  readonly backOff: SectionOf<"failure.backOff">;
  /** After how many failures of a machine the container is replaced, the node excluded, the job failed. */
  readonly blame: SectionOf<"failure.blame">;
}

export interface Timeouts extends SectionOf<"timeouts"> {
  /** An executor that sent no message for so long is lost. */
  readonly heartbeatExpiryMs: number;
  /** The other tasks' exits are awaited for so long before the cause of a failure is decided. */
  readonly verdictMs: number;
  /** An executor that has no ApplicationMaster for so long ends its program. */
  readonly orphanMs: number;
}

/** Inclusive at both ends. */
export type PortRange = NonNullable<KeyValue<"tony.am.port-range">>;

/** The archive whose unpacked content holds the file: one of that name, else the one that is laid out in the working directory itself. */
export function archiveOf(file: string, files: readonly FileToShip[]): FileToShip | undefined {
  const named = files.find(({ as, name }) => as === "archive" && file.startsWith(`${name}/`));
  return named ?? files.find(({ as }) => as === "working-directory");
}

/**
 * Whether a job's page shows all of it at YARN's proxy to who has its key. That, and what is shown, cross the network in clear text: where the
 * cluster is secured only for who asks for it.
 */
export function opensByKey({ page }: Pick<AmSpec, "page">, isSecured: boolean): boolean {
  return page ?? !isSecured;
}

/** How many tasks of a role the job has: a search has those of each trial. */
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

/** With how many of its tasks a role can start: all, unless it is elastic. */
export function leastInstances({ minInstances, instances }: Pick<RoleSpec, "minInstances" | "instances">): number {
  return minInstances ?? instances;
}
