import type { ChildExit, ExecutorRegistration, Notice, TaskPlace } from "../job/execution.ts";
import type { GpuMetrics } from "../job/gpu-metrics.ts";
import type { StopReason } from "../job/reasons/stops.ts";
import type { Checkpoint, Transfer } from "../job/status.ts";
import type { Transaction } from "../job/store/transaction.ts";

/** Raised when an older peer could misunderstand a message; a new field alone does not raise it. */
export const PROTOCOL_VERSION = 1;

/** How many bytes of a log may be sent before the reader has granted more (see `tail-credit`). */
export const INITIAL_TAIL_CREDIT_BYTES = 131_072;

/** The sender. */
export interface Hello {
  readonly protocol: number;
  /** Version and revision, for people. */
  readonly build: string;
}

/** Every message between executor and ApplicationMaster names the AM's attempt and the generation it is about. */
export interface Addressed<Body> {
  readonly attempt: number;
  readonly generation: number;
  readonly body: Body;
}

export type ExecutorMessage = Addressed<ExecutorReport>;
export type MasterMessage = Addressed<MasterCommand>;

/** What an executor reports. */
export type ExecutorReport =
  /** First on every stream, and again for each generation the executor is prepared for. */
  | {
      readonly type: "register";
      readonly hello: Hello;
      /** Its `generation` is the message's. */
      readonly registration: ExecutorRegistration;
      /** What the attempt that is obeyed gave with its welcome; empty before that. */
      readonly attemptProof: Uint8Array;
    }
  | { readonly type: "heartbeat"; readonly sentAtMs: number; readonly metrics?: Metrics }
  /** Where it stands, when it was asked. */
  | ({ readonly type: "child-place" } & TaskPlace)
  | { readonly type: "child-started"; readonly pid: number; readonly atMs: number }
  /** Sent again on every new stream until it is acknowledged. */
  | { readonly type: "child-exited"; readonly exit: ChildExit }
  | {
      readonly type: "child-progress";
      readonly step: number;
      readonly atMs: number;
      /** The newest complete one, whichever report said so first. */
      readonly checkpoint?: Checkpoint;
      /** The last value of each that the program reported, by name; absent: nothing new. */
      readonly metrics?: Readonly<Record<string, number>>;
    }
  | { readonly type: "log-chunk"; readonly chunk: LogChunk }
  | { readonly type: "transfer"; readonly transfer: Transfer }
  | { readonly type: "service-announced"; readonly name: string; readonly url: string }
  /** The executor exits on purpose; a stream that ends without it is broken. */
  | { readonly type: "goodbye"; readonly reason: string }
  /** A message that only newer peers know: ignored. */
  | { readonly type: "unknown" };

/** Of the child's whole process tree. */
export interface Metrics {
  readonly memoryBytes: number;
  readonly maxMemoryBytes: number;
  readonly averageMemoryBytes: number;
  /** Average since the sample before. */
  readonly cpuCores: number;
  /** Of all processors, since the program started; no less than before. */
  readonly cpuMs: number;
  readonly processes: number;
  /** Absent when none was measured. */
  readonly gpus?: GpuMetrics;
}

/** What the ApplicationMaster orders or answers one executor. */
export type MasterCommand =
  | {
      readonly type: "welcome";
      readonly hello: Hello;
      readonly heartbeatIntervalMs: number;
      /** JSON of ExecutorJob; the same bytes for every executor, so that they are encoded once. */
      readonly job: Uint8Array;
      /** Shows to every other attempt that the executor obeys this one (see attemptProof). */
      readonly attemptProof: Uint8Array;
    }
  /** Prepare for the message's generation: stop the program, reserve new ports, register for it. */
  | { readonly type: "prepare"; readonly reason: string }
  | {
      readonly type: "start-child";
      /** A ClusterSpec, packed and encoded once per generation (see cluster-spec-codec.ts). */
      readonly clusterSpec: Uint8Array;
      readonly restartReason: string;
      /** How often the program was started before. */
      readonly restarts: number;
      /** What the program may resume from; empty: nothing is known. */
      readonly checkpoint: string;
    }
  | { readonly type: "stop-child"; readonly graceMs: number; readonly reason: StopReason; readonly dumpStacks?: true }
  /** Say where the program stands, which goes on. */
  | { readonly type: "tell-place" }
  /** The container is still its task's: resume the suspended program. */
  | { readonly type: "resume-child" }
  /** The container is another task's: exit, so that its executor starts with these variables (see executorVariables). */
  | { readonly type: "make-room"; readonly variables: Readonly<Record<string, string>> }
  /** Newer delegation tokens, a token file: for the executor itself and its program. */
  | { readonly type: "replace-tokens"; readonly file: Uint8Array }
  /** Somebody asks for a session with the task: serve it on a stream of its own (session-messages.ts). */
  | { readonly type: "serve-session"; readonly sessionId: number }
  /** Its caller has gone: what still waits in its stream may be longer than anybody reads. */
  | { readonly type: "end-session"; readonly sessionId: number }
  /** Stop the program and exit. If the reason is `replaced`, the program is killed, and no checkpoint or output is uploaded. */
  | { readonly type: "exit"; readonly graceMs: number; readonly reason: StopReason }
  /** The exit of this generation's child is recorded. */
  | { readonly type: "acknowledge-exit" }
  | TailRequest
  | { readonly type: "tail-credit"; readonly tailId: number; readonly bytes: number }
  | { readonly type: "signal-child"; readonly signal: string; readonly reason: string; readonly notice: Notice }
  | { readonly type: "refuse"; readonly reason: string; readonly fatal: boolean }
  | { readonly type: "unknown" };

export type OutputStream = "stdout" | "stderr";
/** What a person can read: what a program printed, or the log of its executor. */
export type ReadableStream = OutputStream | "executor";
/** `index`: when how much of the two was written (see src/job/output-index.ts). */
export type LogStream = ReadableStream | "index";

/** Send the log from an offset; with `follow` as it grows, until it is cancelled. */
export interface TailRequest {
  readonly type: "tail-log";
  readonly tailId: number;
  /** The executor's, or one that had its container before. */
  readonly task: string;
  readonly stream: LogStream;
  /** Negative: that many bytes before the end. */
  readonly offset: number;
  readonly follow: boolean;
  readonly cancel: boolean;
}

export interface LogChunk {
  readonly tailId: number;
  readonly stream: LogStream;
  /** Of the first byte of `data`. */
  readonly offset: number;
  readonly data: Uint8Array;
  /** Nothing follows. */
  readonly end: boolean;
  /** The generation whose output it is; 0: the output of a task that had the container before. */
  readonly generation: number;
  /** Bytes left out before this chunk because the reader was too slow. */
  readonly skippedBytes: number;
}

export interface RejoinRequest {
  readonly hello: Hello;
  readonly attempt: number;
  /** `host:port` of the new ApplicationMaster. */
  readonly masterAddress: string;
}

export interface RejoinReply {
  readonly accepted: boolean;
  readonly reason: string;
}

/** What clients that follow receive; status and outcome are encoded once for all of them (see status-codec.ts). */
export type FollowMessage =
  | { readonly type: "status"; readonly attempt: number; readonly status: Uint8Array }
  | { readonly type: "outcome"; readonly attempt: number; readonly outcome: Uint8Array }
  | { readonly type: "unknown"; readonly attempt: number };

export interface FollowRequest {
  readonly hello: Hello;
}

export interface ReadLogRequest {
  readonly hello: Hello;
  /** `worker:0`, or `am`. */
  readonly task: string;
  readonly stream: LogStream;
  /** Negative: that many bytes before the end. */
  readonly offset: number;
  readonly follow: boolean;
}

export interface StopRequest {
  readonly hello: Hello;
  readonly reason: string;
}

export interface StoreRequest {
  readonly hello: Hello;
  readonly transaction: Transaction;
  /** `worker:0`, with whose present life the keys that are owned go. */
  readonly owner?: string;
  /** It is answered when all that the answer tells of is in the journal. */
  readonly durable: boolean;
}

export interface StopReply {
  readonly accepted: boolean;
}
