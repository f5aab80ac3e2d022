import type { Resource } from "../hadoop/yarn/records.ts";
import type { KeyValue } from "./keys.ts";
import type { TaskId } from "./task.ts";

/**
 * What a job is, after every check that needs no cluster: plain, immutable JSON, made once by the client and shared by client,
 * ApplicationMaster and executor. Durations are in milliseconds, memory in MiB; a wait that is off is absent.
 */
export interface JobSpec {
  readonly specVersion: 1;
  readonly name: string;
  /** YARN's application type. */
  readonly applicationType: string;
  readonly tags: readonly string[];
  readonly queue: string;
  /** YARN's application priority; absent: the queue's default. */
  readonly priority?: number;
  /** Node label expression of every container that names none itself; already applied to `am` and `roles`. */
  readonly nodeLabel?: string;
  readonly framework: Framework;
  readonly distributedMode: DistributedMode;
  readonly am: AmSpec;
  /** In the order of the job file; at least one. */
  readonly roles: readonly RoleSpec[];
  /** The task whose output people follow: `chief:0`, else `worker:0`, else the first tracked role's first task. */
  readonly leadTask: TaskId;
  /** The task that gets a port for TensorBoard: the `tensorboard` role's, else the lead task. */
  readonly tensorBoardTask: TaskId;
  /** What every task's container finds in its working directory. */
  readonly resources: readonly ResourceToLocalize[];
  /** Environment of the containers: executors (and through them programs) and the ApplicationMaster. */
  readonly containerEnvironment: Readonly<Record<string, string>>;
  readonly sidecarTensorBoardLogDir?: string;
  /** Where the program keeps its checkpoints (`hdfs://…` or a shared path); handed to it as TONY_CHECKPOINT_DIR. */
  readonly checkpointDir?: string;
  readonly carrier?: CarrierSpec;
  readonly failure: FailureSpec;
  readonly timeouts: Timeouts;
  readonly preemption: { readonly signal: StopSignal };
  /** Where the programs of this project and of the job may listen; absent: any free port. */
  readonly ports: { readonly am?: PortRange; readonly task?: PortRange };
  readonly history: { readonly location?: string };
  readonly logs: LogSpec;
  /** Where each setting was made, for messages: `tony.worker.memory` → `job.xml:16`. Defaults are not listed. */
  readonly sources: Readonly<Record<string, string>>;
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
/** What is replaced when a task of the role fails: the whole gang, the task alone, or nothing. */
export type RestartPolicy = KeyValue<"tony.{role}.restart-policy">;
/** How the containers of a role are spread over nodes. */
export type Placement = KeyValue<"tony.{role}.placement">;
export type StopSignal = KeyValue<"tony.task.preemption-signal">;
export type LogLevel = KeyValue<"tony.am.log-level">;

export interface AmSpec {
  readonly resource: Resource;
  readonly nodeLabel?: string;
  /** YARN attempts; absent: the cluster's maximum. */
  readonly maxAttempts?: number;
  /** What its container finds; it gets none of the tasks'. */
  readonly resources: readonly ResourceToLocalize[];
}

export interface RoleSpec {
  readonly name: string;
  readonly instances: number;
  /** Of each container. */
  readonly resource: Resource;
  readonly nodeLabel?: string;
  readonly placement: Placement;
  /** Run by `bash -c` in the container's working directory. */
  readonly command: string;
  /** Environment of the program alone (TonY's execution environment), over the container's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tracking: Tracking;
  /** A failure of any instance ends the job at once, whatever budget is left. */
  readonly stopOnFailure: boolean;
  /** Which of its tasks are chiefs: all of role `chief`; the first of `worker` where there is no role `chief`; else none. */
  readonly chief: "all" | "first" | "none";
  readonly restartPolicy: RestartPolicy;
  /** The port is held with SO_REUSEPORT while the program runs, for programs that open it so (TF_GRPC_REUSE_PORT). */
  readonly reusePort: boolean;
  /** What its containers find beside the job's. */
  readonly resources: readonly ResourceToLocalize[];
}

/** One `SOURCE[::NAME][#archive]` of the job. */
export interface ResourceToLocalize {
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

/** What executors bring from their containers to where it stays. Local folders are relative to the container's working directory. */
export interface CarrierSpec {
  /** Brought to `checkpointDir`, and back from it; `keep` is how many stay there for each task. */
  readonly checkpoints?: { readonly localDir: string; readonly keep: number };
  readonly output?: { readonly localDir: string; readonly dir: string };
  /** Of one executor; absent: no limit. */
  readonly bytesPerSecond?: number;
  /** For what is left to bring up when a program has ended, and for bringing back a checkpoint. */
  readonly timeoutMs: number;
}

export interface FailureSpec {
  /** `fail`: a tracked task that ends badly, its budget spent, fails the job. `tolerate`: only if every tracked task did. */
  readonly onWorkerFailure: "fail" | "tolerate";
  /** Restarts of a generation that each class of failure may cause. */
  readonly budgets: { readonly program: number; readonly infrastructure: number };
  /** The first restart is immediate, the second waits `initialMs`, each further one twice as long up to `maxMs`. */
  readonly backOff: { readonly initialMs: number; readonly maxMs: number };
  /** How many failures of the machine's kind take away the container, then keep the node off, then fail the job. */
  readonly blame: { readonly container: number; readonly node: number; readonly job: number };
  /** How many last lines of a failed program's output are kept for the report. */
  readonly outputLines: number;
}

export interface Timeouts {
  /** The whole job. */
  readonly applicationMs?: number;
  /** The client kills an application that is still not RUNNING after this. */
  readonly startupMs?: number;
  /** Fails the job if not every task is registered in time, from the ApplicationMaster's start. */
  readonly allocationMs?: number;
  /** A gang that holds some containers and waits for others gives them back after this and asks again. */
  readonly gangHoldMs: number;
  /** From the node's answer to the start request until the executor registers. */
  readonly registrationMs?: number;
  /** From a launch until the container runs, localisation included. */
  readonly launchMs: number;
  /** One life of a program. */
  readonly executionMs?: number;
  /** No step reported for so long: the program hangs. */
  readonly progressMs?: number;
  readonly heartbeatIntervalMs: number;
  readonly heartbeatExpiryMs: number;
  /** The expiry that holds while more than a third of the executors are silent together. */
  readonly massSilenceMs: number;
  /** An executor whose ApplicationMaster is gone for so long ends its program. */
  readonly orphanMs: number;
  /** An executor that reaches neither its ApplicationMaster nor the staging folder for so long suspends its program. */
  readonly isolationMs: number;
  /** How long a verdict waits for the exits of all tasks of the generation. */
  readonly verdictMs: number;
  /** Between TERM and KILL of a program's process tree. */
  readonly stopGraceMs: number;
  /** After the chief is done, or the last tracked task beside evaluators, the others may run on for so long. */
  readonly afterChiefMs: number;
  readonly metricsIntervalMs: number;
}

/** Inclusive at both ends. */
export type PortRange = NonNullable<KeyValue<"tony.am.port-range">>;

export interface LogSpec {
  readonly level: LogLevel;
}
