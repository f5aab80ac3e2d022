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
 * The state of a job as people and programs see it: what the AM publishes, `tony-ts status --json` prints and history keeps.
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
  /** Each program starts as soon as it can, without a cluster spec; absent: all together. */
  readonly distributedMode?: "fcfs";
  /** When the cluster took it; absent on this machine. */
  readonly submittedAtMs?: number;
  /** When its first ApplicationMaster started. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly amHost: string;
  /** The AM's own container, for its log. */
  readonly amContainerId?: string;
  readonly roles: readonly RoleStatus[];
  readonly tasks: readonly TaskStatus[];
  /** What the job waits for, most important first; empty while nothing is waited for. */
  readonly waits: readonly Wait[];
  readonly generations: readonly GenerationSummary[];
  /** Later attempts of the ApplicationMaster; absent: there was none. */
  readonly takeovers?: readonly Takeover[];
  readonly budgets: Budgets;
  readonly services: readonly { readonly name: string; readonly url: string; readonly task: string }[];
  /** The complete one with the highest step that can be read wherever a task runs. */
  readonly checkpoint?: Checkpoint;
  /** The checkpoint of an earlier job that it began with (`tony.application.resume-from`). */
  readonly resumeFrom?: string;
  /** A later one that was in a container: nothing resumes from it. */
  readonly droppedCheckpoint?: DroppedCheckpoint;
  readonly usage: Usage;
  /** While no program of the job uses its processor or GPUs, for longer than `tony.task.idle-warning-ms`. */
  readonly idle?: Idle;
  readonly search?: SearchStatus;
  /** Those of the job, by name; absent: it has none. */
  readonly feeds?: readonly FeedStatus[];
  readonly outcome?: JobOutcome;
}

/**
 * - `starting`: the AM is not yet registered with the ResourceManager
 * - `gathering`: containers are asked for, launched, or their executors have not all registered
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
 * - `waiting`: no container · `allocated`: has one, not started · `launched`: the NodeManager accepted it, files are being localised
 * - `registered`: its executor is connected and holds a port · `running`: its program runs
 * - `succeeded` `failed`: its program ended by itself · `stopped`: we stopped it · `lost`: its container or executor went away
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

/** What trials of a search are compared by, and how one of them is run alone. */
export interface SearchStatus {
  readonly metric: string;
  readonly direction: Direction;
  /** Their names, in the order of the search. */
  readonly parameters: readonly string[];
  /** With `{{param.NAME}}`. */
  readonly command: string;
  /** How many trials there may be; absent where each is one task. */
  readonly trials?: number;
  /** What each of `parameters` may be, as a job has it. */
  readonly space?: readonly string[];
  /** The job's file as it was given; absent of a job of options alone. */
  readonly jobFile?: string;
  /** Keys that the command which ran the search set beside that file. */
  readonly givenKeys?: readonly string[];
  /** Its folder for this application has `result.json` and `trials.jsonl` when it has ended. */
  readonly outputDir?: string;
  readonly containerTime?: ContainerTime;
  readonly algorithm?: Search["algorithm"];
  /** By which rule trials are stopped early, or pause, and at which steps. */
  readonly stop?: Search["stop"];
  readonly budget?: Rungs;
  /** How many trials run at once. */
  readonly maxParallel?: number;
}

/** How far a feed is, in the present generation. */
export interface FeedStatus {
  readonly name: string;
  /** The epoch that is read, from 0 on; as many as there are once all are over. */
  readonly epoch: number;
  /** Absent: without end. */
  readonly epochs?: number;
  /** Of an epoch. */
  readonly splits: number;
  /** Of an input that grows: each file that was written before then is used, or left out; absent where there is none. */
  readonly watermarkMs?: number;
  /** How many of this epoch's are used. */
  readonly used: number;
  /** How many failed too often, and are left out. */
  readonly leftOut: number;
  /** Which of them, and why: the first ones. */
  readonly failures: readonly SplitFailure[];
  /** How many others have failed and were handed out again. */
  readonly triedAgain: number;
  /** The folder of what programs make of it. */
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

/** What a task has used of a feed since it began to read, or the last attempt of the ApplicationMaster began. */
export interface FeedReaderStatus {
  readonly task: string;
  readonly splits: number;
  /** Those of the splits that it has used; 0 where it counts none. */
  readonly rows: number;
  readonly sinceMs: number;
  /** When it had last used a split. */
  readonly usedAtMs: number;
  /** It has ended well. */
  readonly isDone: boolean;
}

export interface TrialStatus {
  readonly state: TrialState;
  /** Why it was stopped early, or how it failed. */
  readonly why?: string;
  /** What it reported last of the metric, where that is no number of JSON. */
  readonly nonFinite?: NonFinite;
  /** Its furthest one that any container can read. */
  readonly checkpoint?: string;
  /** Of one that failed: the last of what its program wrote, or its traceback. */
  readonly lines?: readonly string[];
  /** Of one that ended in an earlier search: the application that has its logs. */
  readonly application?: string;
}

export interface TaskStatus {
  /** `worker:0` */
  readonly task: string;
  readonly state: TaskState;
  readonly host?: string;
  readonly port?: number;
  /** Its others, by the names of `tony.{role}.ports`. */
  readonly ports?: Readonly<Record<string, number>>;
  readonly containerId?: string;
  /** `host:port` of the node's web server. */
  readonly nodeHttpAddress?: string;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** `0`, `1`, `SIGKILL`, `-104`: what a table shows. */
  readonly exit?: string;
  /** The last step, and that of the last complete checkpoint, that its program reported in this generation. */
  readonly step?: number;
  readonly checkpointStep?: number;
  /** Its steps in a second, of the last ten, against the median of its role's running tasks; absent: it runs not, or reports no steps. */
  readonly rate?: number;
  /** The last value of each metric that its program reported in this generation. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** Of a trial of a search: its parameters, as text. */
  readonly params?: Readonly<Record<string, string>>;
  /** The same, how it stands. */
  readonly trial?: TrialStatus;
  /** The last of each kind. */
  readonly transfers?: readonly Transfer[];
  readonly memoryBytes?: number;
  /** The most that it ever used, in all its lives. */
  readonly maxMemoryBytes?: number;
  readonly cpuCores?: number;
  /** Absent where its node's kernel does not tell it. */
  readonly disk?: DiskUse;
  /** Its GPUs when they were last measured. */
  readonly gpus?: GpuMetrics;
  /** How often this task was started before, when it restarts alone. */
  readonly restarts: number;
  /** Why it was the last time. */
  readonly restartReason?: string;
}

/** What the processes of a task had read from disks and written to them since they were measured before. */
export interface DiskUse {
  readonly readBytesPerSecond: number;
  /** Counted when it is written to memory that the kernel stores later. */
  readonly writtenBytesPerSecond: number;
}

/** One thing that the job waits for, with the key that helps, if there is one: as data, and in words. */
export interface Wait {
  readonly reason: WaitReason;
  /** What it is for, in words that stay the same while it lasts: `containers of worker`. */
  readonly cause: string;
  /** The same with its numbers of this moment: `2 of 4 containers of worker: 4 GiB, 2 cores`. */
  readonly what: string;
  readonly sinceMs: number;
  /** Why it is not there yet. */
  readonly delays: readonly DelayReason[];
  /** The same in words. */
  readonly reasons: readonly string[];
  readonly remedy?: string;
  /** The remedy as data. */
  readonly fix?: Remedy;
  readonly endsAtMs?: number;
  /** What happens at `endsAtMs`, if not simply the end of the job or of the wait: `its containers are returned`. */
  readonly atEnd?: string;
}

export interface Budgets {
  readonly program: Budget;
  readonly infrastructure: Budget;
  /** Roles whose programs' failures count for them alone (`tony.<role>.retry-count`), each with its own. */
  readonly roles?: readonly RoleBudget[];
}

/** Restarts after failures of one role's programs. */
export interface RoleBudget {
  readonly role: string;
  readonly used: number;
  readonly limit: number;
}

/** Restarts after failures of one class. */
export interface Budget {
  readonly used: number;
  readonly limit: number;
  /** Only those of so long count as used; absent where all of the job do. */
  readonly windowMs?: number;
}

/** `restored`: an earlier checkpoint than the one that the program was to begin with. */
export const transferKinds = ["checkpoint", "output", "restored"] as const;
export const transferStates = ["under-way", "done", "incomplete", "failed", "empty"] as const;

/** How an upload of an executor goes, or went; `empty` is output of which the program left no file. */
export interface Transfer {
  readonly what: (typeof transferKinds)[number];
  readonly state: (typeof transferStates)[number];
  /** Where it is uploaded to, or was downloaded from. */
  readonly url: string;
  readonly files: number;
  readonly bytes: number;
  /** Of the checkpoint; 0 for output. */
  readonly step: number;
  /** Since when it is in this state. */
  readonly atMs: number;
  /** Why it failed, what of it is not stored, what is stored under another name, where the program left no file, or why an earlier one was taken; else empty. */
  readonly reason: string;
}

export interface DroppedCheckpoint extends Checkpoint {
  /** The task in whose container it was. */
  readonly task: string;
}

/** When a later attempt of the ApplicationMaster went on with the job. */
export interface Takeover {
  readonly attempt: number;
  readonly atMs: number;
}

/** How one generation went. What is absent did not happen. */
export interface GenerationSummary {
  readonly generation: number;
  readonly startedAtMs: number;
  /** When all of its tasks had containers. */
  readonly allocatedAtMs?: number;
  /** When the files were there in all of them, and their executors began. */
  readonly localizedAtMs?: number;
  /** When all executors were ready, and the cluster spec went out. */
  readonly registeredAtMs?: number;
  /** When all of its programs ran; where each starts by itself, the first. */
  readonly runningAtMs?: number;
  readonly endedAtMs?: number;
  readonly endedBy?: Cause;
  readonly resumedFrom?: Checkpoint;
  /** Of a job with several stages: the roles of this one's. */
  readonly roles?: readonly string[];
}

/** Why a generation ended: the root, and what followed from it. */
export interface Cause {
  readonly class: FailureClass;
  /** When it ended. */
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
  /** The same with their facts, in the same order. */
  readonly followed: readonly Consequence[];
}

/** How the job ended. */
export interface JobOutcome {
  readonly result: "succeeded" | "failed" | "killed";
  /** One sentence; YARN's diagnostics. */
  readonly summary: string;
  readonly cause?: Cause;
  /** Why no restart followed the cause: the budget or setting that ended the job, with its key. */
  readonly rule?: string;
  /** The code and facts of the rule, or of the summary where there is no rule. */
  readonly reason: OutcomeReason;
  readonly endedAtMs: number;
}

/** Only the version is checked: the program that wrote it has the same types. @throws ShapeError */
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
