import type { Usage } from "./cost.ts";
import type { Checkpoint } from "./execution.ts";
import type { GpuMetrics } from "./gpus.ts";
import type { Idle } from "./idle.ts";
import type { NonFinite } from "./program-metrics.ts";
import type { Consequence, EndingReason } from "./reasons/endings.ts";
import type { FailureClass } from "./reasons/facts.ts";
import type { MasterReason } from "./reasons/master.ts";
import type { OutcomeReason } from "./reasons/outcomes.ts";
import type { Remedy } from "./reasons/remedies.ts";
import type { DelayReason, WaitReason } from "./reasons/waits.ts";
import type { ContainerTime } from "./search/container-time.ts";
import type { Direction, Budget as Rungs, Search, TrialState } from "./search/trials.ts";
import { type Shape, ShapeError } from "./shape.ts";

export type { FailureClass } from "./reasons/facts.ts";

/**
 * The state of a job for people and programs: what the AM publishes, `tony-ts status --json` prints and the history keeps.
 * Times are milliseconds since the epoch. Fields are only ever added.
 */
export interface JobStatus {
  readonly statusVersion: 1;
  readonly applicationId: string;
  readonly attempt: number;
  readonly name: string;
  readonly queue: string;
  readonly state: JobState;
  readonly generation: number;
  /** Each program starts as soon as it can, without a cluster spec; absent: all start together. */
  readonly distributedMode?: "fcfs";
  /** When the cluster accepted it; absent on this machine. */
  readonly submittedAtMs?: number;
  /** When its first ApplicationMaster started. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly amHost: string;
  /** The AM's own container, for its log. */
  readonly amContainerId?: string;
  readonly roles: readonly RoleStatus[];
  readonly tasks: readonly TaskStatus[];
  /** What the job waits for, most important first; empty while it waits for nothing. */
  readonly waits: readonly Wait[];
  readonly generations: readonly GenerationSummary[];
  /** Later attempts of the ApplicationMaster; absent: there was none. */
  readonly takeovers?: readonly Takeover[];
  readonly budgets: Budgets;
  readonly services: readonly { readonly name: string; readonly url: string; readonly task: string }[];
  /** The complete checkpoint with the highest step that is readable wherever a task runs. */
  readonly checkpoint?: Checkpoint;
  /** The checkpoint of an earlier job that this one began with (`tony.application.resume-from`). */
  readonly resumeFrom?: string;
  /** A later one that existed only in a container: nothing resumes from it. */
  readonly droppedCheckpoint?: DroppedCheckpoint;
  readonly usage: Usage;
  /** Present while no program of the job uses its CPUs or GPUs, for longer than `tony.task.idle-warning-ms`. */
  readonly idle?: Idle;
  readonly search?: SearchStatus;
  /** The job's feeds, by name; absent: it has none. */
  readonly feeds?: readonly FeedStatus[];
  readonly outcome?: JobOutcome;
}

/**
 * - `starting`: the AM has not yet registered with the ResourceManager
 * - `gathering`: containers are requested or launched, or not all of their executors have registered
 * - `running`: the cluster spec is out and children run
 * - `restarting`: the children of a generation are being stopped before the next one
 * - `finishing`: the outcome is decided and being carried out
 * - the rest are outcomes
 */
export type JobState =
  | "starting"
  | "gathering"
  | "running"
  | "restarting"
  | "finishing"
  | "succeeded"
  | "failed"
  | "killed";

export interface RoleStatus {
  readonly name: string;
  readonly instances: number;
  readonly allocated: number;
  readonly registered: number;
  readonly running: number;
  readonly ended: number;
  readonly memoryMiB: number;
  readonly vcores: number;
  readonly others: Readonly<Record<string, number>>;
  readonly nodeLabel?: string;
}

/**
 * - `waiting`: no container · `allocated`: has one, not started · `launched`: the NodeManager has accepted it and localises its
 *   files
 * - `registered`: its executor is connected and holds a port · `running`: its program runs
 * - `succeeded` `failed`: its program ended by itself · `stopped`: we stopped it · `lost`: its container or executor disappeared
 */
export type TaskState =
  | "waiting"
  | "allocated"
  | "launched"
  | "registered"
  | "running"
  | "succeeded"
  | "failed"
  | "stopped"
  | "lost";

/** How the trials of a search are compared, and how to run a single one of them. */
export interface SearchStatus {
  readonly metric: string;
  readonly direction: Direction;
  /** The names of the parameters, in the order of the search. */
  readonly parameters: readonly string[];
  /** With `{{param.NAME}}`. */
  readonly command: string;
  /** The highest number of trials; absent where each is a single task. */
  readonly trials?: number;
  /** The domain of each of `parameters`, as a job writes it. */
  readonly space?: readonly string[];
  /** The job's file as it was given; absent for a job from options alone. */
  readonly jobFile?: string;
  /** Keys that the command of the search set in addition to that file. */
  readonly givenKeys?: readonly string[];
  /** Its subfolder for this application has `result.json` and `trials.jsonl` once the search has ended. */
  readonly outputDir?: string;
  readonly containerTime?: ContainerTime;
  readonly algorithm?: Search["algorithm"];
  /** The rule by which trials are stopped early, or pause, and its steps. */
  readonly stop?: Search["stop"];
  readonly budget?: Rungs;
  /** How many trials run at once. */
  readonly maxParallel?: number;
}

/** The progress of a feed, in the current generation. */
export interface FeedStatus {
  readonly name: string;
  /** The current epoch, from 0; equal to the number of epochs once all are over. */
  readonly epoch: number;
  /** Absent: no end. */
  readonly epochs?: number;
  /** The number of splits in an epoch. */
  readonly splits: number;
  /** For a growing input: every file written before this time is used, or left out; absent for other inputs. */
  readonly watermarkMs?: number;
  /** How many splits of this epoch are used. */
  readonly used: number;
  /** How many failed too often and are left out. */
  readonly leftOut: number;
  /** The first of those that were left out, and why. */
  readonly failures: readonly SplitFailure[];
  /** How many others failed and were handed out again. */
  readonly triedAgain: number;
  /** The folder for the results that programs make. */
  readonly output?: string;
  readonly readers: readonly FeedReaderStatus[];
}

/** A split that is left out. */
export interface SplitFailure {
  readonly split: number;
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** What a task has used of a feed since it began to read, or since the last attempt of the ApplicationMaster began. */
export interface FeedReaderStatus {
  readonly task: string;
  readonly splits: number;
  /** The rows in the splits that it has used; 0 where it counts none. */
  readonly rows: number;
  readonly sinceMs: number;
  /** When it last used up a split. */
  readonly usedAtMs: number;
  /** Whether it ended successfully. */
  readonly isDone: boolean;
}

export interface TrialStatus {
  readonly state: TrialState;
  /** Why it was stopped early or failed. */
  readonly why?: string;
  /** Its last value of the metric, where JSON cannot represent that number. */
  readonly nonFinite?: NonFinite;
  /** Its furthest checkpoint that any container can read. */
  readonly checkpoint?: string;
  /** For a failed trial: its program's last lines, or its traceback. */
  readonly lines?: readonly string[];
  /** For a trial that ended in an earlier search: the application that has its logs. */
  readonly application?: string;
}

export interface TaskStatus {
  /** `worker:0` */
  readonly task: string;
  readonly state: TaskState;
  readonly host?: string;
  readonly port?: number;
  /** Its other ports, by the names of `tony.{role}.ports`. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly containerId?: string;
  /** `host:port` of the node's web server. */
  readonly nodeHttpAddress?: string;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** `0`, `1`, `SIGKILL`, `-104`: the text for a table. */
  readonly exit?: string;
  /** The last step, and the step of the last complete checkpoint, that its program reported in this generation. */
  readonly step?: number;
  readonly checkpointStep?: number;
  /** Its steps per second, over the last ten, relative to the median of its role's running tasks; absent: it does not run, or reports no steps. */
  readonly rate?: number;
  /** The last value of each metric that its program reported in this generation. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** For a trial of a search: its parameters, as text. */
  readonly params?: Readonly<Record<string, string>>;
  /** For a trial of a search: its state. */
  readonly trial?: TrialStatus;
  /** The last transfer of each kind. */
  readonly transfers?: readonly Transfer[];
  readonly memoryBytes?: number;
  /** The most memory that it ever used, in all its lives. */
  readonly maxMemoryBytes?: number;
  readonly cpuCores?: number;
  /** Absent where its node's kernel does not report it. */
  readonly disk?: DiskUse;
  /** The last measurement of its GPUs. */
  readonly gpus?: GpuMetrics;
  /** How many times this task was restarted alone. */
  readonly restarts: number;
  /** The reason of its last restart. */
  readonly restartReason?: string;
}

/** What a task's processes read from disks and wrote to them since the previous measurement. */
export interface DiskUse {
  readonly readBytesPerSecond: number;
  /** Counted when it is written to memory, before the kernel stores it. */
  readonly writtenBytesPerSecond: number;
}

/** One thing that the job waits for, with the key that helps, if there is one: as data and in words. */
export interface Wait {
  readonly reason: WaitReason;
  /** The awaited thing, in words that stay the same while the wait lasts: `containers of worker`. */
  readonly cause: string;
  /** The same with its current numbers: `2 of 4 containers of worker: 4 GiB, 2 cores`. */
  readonly what: string;
  readonly sinceMs: number;
  /** Why it is still missing. */
  readonly delays: readonly DelayReason[];
  /** The same in words. */
  readonly reasons: readonly string[];
  readonly remedy?: string;
  /** The remedy as data. */
  readonly fix?: Remedy;
  readonly endsAtMs?: number;
  /** What happens at `endsAtMs`, if it is not just the end of the job or of the wait: `its containers are returned`. */
  readonly atEnd?: string;
}

export interface Budgets {
  readonly program: Budget;
  readonly infrastructure: Budget;
  /** Roles with a budget of their own for their programs' failures (`tony.<role>.retry-count`). */
  readonly roles?: readonly RoleBudget[];
}

/** The restarts after failures of one role's programs. */
export interface RoleBudget {
  readonly role: string;
  readonly used: number;
  readonly limit: number;
}

/** The restarts after failures of one class. */
export interface Budget {
  readonly used: number;
  readonly limit: number;
  /** Only restarts within this time count as used; absent where all of the job count. */
  readonly windowMs?: number;
}

/** `restored`: an earlier checkpoint than the one that the program was to resume from. */
export const transferKinds = ["checkpoint", "output", "restored"] as const;
export const transferStates = ["under-way", "done", "incomplete", "failed", "empty"] as const;

/** The state of an executor's upload; `empty` is output of which the program left no file. */
export interface Transfer {
  readonly what: (typeof transferKinds)[number];
  readonly state: (typeof transferStates)[number];
  /** Where it is uploaded to, or was downloaded from. */
  readonly url: string;
  readonly files: number;
  readonly bytes: number;
  /** The checkpoint's step; 0 for output. */
  readonly step: number;
  /** Since when it has been in this state. */
  readonly atMs: number;
  /**
   * Why it failed, what was not stored, what is stored under another name, where the program left no file, or why an earlier one was used;
   * otherwise empty.
   */
  readonly reason: string;
}

export interface DroppedCheckpoint extends Checkpoint {
  /** The task whose container it was in. */
  readonly task: string;
}

/** When a later attempt of the ApplicationMaster took over the job. */
export interface Takeover {
  readonly attempt: number;
  readonly atMs: number;
}

/** The course of one generation. A time is absent if its event did not happen. */
export interface GenerationSummary {
  readonly generation: number;
  readonly startedAtMs: number;
  /** When all of its tasks had containers. */
  readonly allocatedAtMs?: number;
  /** When all of them had their files, and their executors began. */
  readonly localizedAtMs?: number;
  /** When all executors were ready, and the cluster spec was sent. */
  readonly registeredAtMs?: number;
  /** When all of its programs ran; where each starts by itself, when the first one did. */
  readonly runningAtMs?: number;
  readonly endedAtMs?: number;
  readonly endedBy?: Cause;
  readonly resumedFrom?: Checkpoint;
  /** In a job with several stages: the roles of this one. */
  readonly roles?: readonly string[];
}

/** Why a generation ended: the root cause, and its consequences. */
export interface Cause {
  readonly class: FailureClass;
  /** The generation in which it ended. */
  readonly generation?: number;
  /** The code, with all facts of the summary. */
  readonly reason: EndingReason | MasterReason;
  readonly summary: string;
  readonly task?: string;
  readonly host?: string;
  readonly containerId?: string;
  readonly exit?: string;
  readonly atMs: number;
  /** The program's last lines or traceback. */
  readonly lines: readonly string[];
  /** What a person can do, e.g. `raise tony.worker.memory (job.xml:16), e.g. to 5g`. */
  readonly remedy?: string;
  /** The remedy's code and facts. */
  readonly fix?: Remedy;
  readonly consequences: readonly string[];
  /** The consequences as data, in the same order. */
  readonly followed: readonly Consequence[];
}

/** How the job ended. */
export interface JobOutcome {
  readonly result: "succeeded" | "failed" | "killed";
  /** One sentence, also used as YARN's diagnostics. */
  readonly summary: string;
  readonly cause?: Cause;
  /** Why the cause was not followed by a restart: the budget or setting that ended the job, with its key. */
  readonly rule?: string;
  /** The code and facts of the rule, or of the summary where there is no rule. */
  readonly reason: OutcomeReason;
  readonly endedAtMs: number;
}

/** Checks only the version: the program that wrote it has the same types. @throws ShapeError */
export const readJobStatus: Shape<JobStatus> = (value, where) => {
  if (isVersionOne(value)) return value;
  throw new ShapeError(`${where === "" ? "the value" : where} is not a status of version 1`);
};

/** As readJobStatus. @throws ShapeError */
export const readJobOutcome: Shape<JobOutcome> = (value, where) => {
  if (isOutcome(value)) return value;
  throw new ShapeError(`${where === "" ? "the value" : where} is not an outcome`);
};

function isVersionOne(value: unknown): value is JobStatus {
  return typeof value === "object" && value !== null && "statusVersion" in value && value.statusVersion === 1;
}

function isOutcome(value: unknown): value is JobOutcome {
  return typeof value === "object" && value !== null && "result" in value && "summary" in value;
}
