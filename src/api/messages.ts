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

/** Raised when an older peer could misunderstand a message; adding a field does not raise it. */
export const PROTOCOL_VERSION = 1;

/** How many bytes of a log may be sent before the reader grants more (see `tail-credit`). */
export const INITIAL_TAIL_CREDIT_BYTES = 131_072;

/** What an executor reports. */
export type ExecutorReport = ExecutorMessageBody;

/** A command of the ApplicationMaster to an executor, or its answer to one. */
export type MasterCommand = MasterMessageBody;

/** A task's request to a feed. */
export type FeedCall = Known<FeedRequestBody>;

/** The answer to it. */
export type FeedAnswered = Known<FeedReply>;

/** Without `unknown`, which stands for the messages that only a newer peer knows. */
type Known<Body extends { readonly type: string }> = Exclude<Body, { readonly type: "unknown" }>;

/** Send the log from an offset; with `follow`, also what is added to it, until the request is cancelled. */
export type TailRequest = Extract<MasterCommand, { type: "tail-log" }>;

/** Which log a reader wants, and which part of it. */
export type LogWanted = Omit<ReadLogRequest, "hello">;

export type OutputStream = "stdout" | "stderr";
/** The logs that are readable text: a program's output, or its executor's log. */
export type ReadableStream = OutputStream | "executor";
/** `index`: records when how much of the two outputs was written (see src/job/output-index.ts). */
export type LogStream = ValueOf<typeof logStream>;
