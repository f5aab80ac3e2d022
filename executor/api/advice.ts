import type { Notice } from "../../src/job/execution.ts";
import { type StopReason, stopWords } from "../../src/job/reasons/stops.ts";

/** What a program is to do next. */
export type Advice =
  | { readonly answer: "continue" }
  /** Its container will be taken back. */
  | { readonly answer: "checkpoint-now"; readonly cause: Notice["cause"]; readonly deadlineMs?: number }
  /** It has received SIGTERM; at the deadline it gets SIGKILL. */
  | { readonly answer: "stop"; readonly cause: string; readonly deadlineMs?: number };

export interface Orders {
  readonly notice: Notice | undefined;
  /** The program has reported a checkpoint since. */
  readonly hasSaved: boolean;
  /** Why it is being stopped, and when SIGKILL comes. */
  readonly stop: { readonly reason: StopReason; readonly killedAtMs: number } | undefined;
}

export function adviceOf({ notice, hasSaved, stop }: Orders): Advice {
  if (stop !== undefined) return { answer: "stop", cause: stopWords(stop.reason), ...until(stop.killedAtMs) };
  if (notice === undefined || hasSaved) return { answer: "continue" };
  return { answer: "checkpoint-now", cause: notice.cause, ...until(notice.endsAtMs) };
}

function until(atMs: number | undefined): { readonly deadlineMs?: number } {
  return atMs === undefined || !Number.isFinite(atMs) ? {} : { deadlineMs: atMs };
}
