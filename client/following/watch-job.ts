import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { connectMaster } from "../master/master-connection.ts";
import { follow } from "./follow.ts";
import type { FollowOptions } from "./follow-options.ts";

export interface WatchOptions
  extends Pick<
    FollowOptions,
    "applications" | "view" | "now" | "logs" | "logsFrom" | "executor" | "ending" | "ended" | "endWithinMs"
  > {
  /** Aborted when the job is to be ended; default: never. */
  readonly stop?: AbortSignal;
  /** Default: over the network. */
  readonly connect?: FollowOptions["connect"];
}

/** Follows a job that was submitted before to its end. @returns the job's exit code */
export async function watchJob(
  { id, startTimeMs }: ApplicationReport,
  { stop = new AbortController().signal, connect = connectMaster, now, ...options }: WatchOptions,
): Promise<ExitCode> {
  // A cluster's clock may be ahead of ours.
  return await follow({ id, connect, now, sinceMs: Math.min(now(), startTimeMs), stop, ...options });
}
