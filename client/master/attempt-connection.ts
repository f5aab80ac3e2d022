import type { LogStream } from "../../src/api/messages.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";

/** A message from an AM to those who follow it. */
export type FollowUpdate =
  | { readonly type: "status"; readonly status: JobStatus }
  | { readonly type: "outcome"; readonly outcome: JobOutcome };

export interface LogRequest {
  /** `worker:0`, or `am` */
  readonly task: string;
  readonly stream: LogStream;
  /** Negative: that many bytes before the end. */
  readonly offset: number;
  readonly follow: boolean;
}

export interface LogPiece {
  readonly offset: number;
  readonly data: Uint8Array;
  readonly generation: number;
  readonly skippedBytes: number;
}

/** A connection to one attempt's AM. When it breaks, calls reject and iterations throw an ApiError. */
export interface AttemptConnection {
  /** Ends after the outcome. */
  follow(signal: AbortSignal): AsyncIterable<FollowUpdate>;
  /** Ends with the log, or with the task's last generation when following. */
  readLog(request: LogRequest, signal: AbortSignal): AsyncIterable<LogPiece>;
  stop(reason: string): Promise<void>;
  close(): void;
}

/**
 * The job's current status; undefined where the job has just ended, or its AM has said nothing within the limit. Throws an error
 * that breaks the connection.
 */
export async function statusNow(
  link: Pick<AttemptConnection, "follow">,
  limitMs = 2 ** 31 - 1,
): Promise<JobStatus | undefined> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), limitMs);
  try {
    for await (const update of link.follow(abort.signal)) if (update.type === "status") return update.status;
    return undefined;
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}
