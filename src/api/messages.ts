import type { ValueOf } from "./fields.ts";
import type {
  ExecutorMessageBody,
  FeedReply,
  FeedRequestBody,
  MasterMessageBody,
  ReadLogRequest,
} from "./generated/types.ts";
import type { logStream } from "./words.ts";

/** The messages of proto/tony/tony.proto, and what is known of them beyond their fields. */
export type {
  EndsReply,
  EndsRequest,
  ExecutorMessage,
  FeedReply,
  FeedRequest,
  FollowMessage,
  FollowRequest,
  Hello,
  LogChunk,
  MasterMessage,
  Metrics,
  PageReply,
  PageRequest,
  ReadLogRequest,
  RejoinReply,
  RejoinRequest,
  StopReply,
  StopRequest,
  StoreReply,
  StoreRequest,
  TaskAnswer,
  TaskAnswers,
  TaskEnd,
  TaskTransaction,
  TaskTransactions,
  WatchReply,
  WatchRequest,
} from "./generated/types.ts";

/** Raised when an older peer could misunderstand a message; a new field alone does not raise it. */
export const PROTOCOL_VERSION = 1;

/** How many bytes of a log may be sent before the reader has granted more (see `tail-credit`). */
export const INITIAL_TAIL_CREDIT_BYTES = 131_072;

/** What an executor reports. */
export type ExecutorReport = ExecutorMessageBody;

/** What the ApplicationMaster orders or answers one executor. */
export type MasterCommand = MasterMessageBody;

/** What a task asks of a feed. */
export type FeedCall = Known<FeedRequestBody>;

/** What it is answered. */
export type FeedAnswered = Known<FeedReply>;

/** Of a newer peer's messages there may be others. */
type Known<Body extends { readonly type: string }> = Exclude<Body, { readonly type: "unknown" }>;

/** Send the log from an offset; with `follow` as it grows, until it is cancelled. */
export type TailRequest = Extract<MasterCommand, { type: "tail-log" }>;

/** Which part of which log somebody wants. */
export type LogWanted = Omit<ReadLogRequest, "hello">;

export type OutputStream = "stdout" | "stderr";
/** What a person can read: what a program printed, or the log of its executor. */
export type ReadableStream = OutputStream | "executor";
/** `index`: when how much of the two was written (see src/job/output-index.ts). */
export type LogStream = ValueOf<typeof logStream>;
