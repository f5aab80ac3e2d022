import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";
import type { LogSelection } from "../logs/log-selection.ts";
import { connectMaster } from "../master/master-connection.ts";
import { follow } from "./follow.ts";
import type { FollowListener } from "./follow-listener.ts";
import type { FollowOptions } from "./follow-options.ts";

export interface WatchOptions {
  readonly applications: Applications;
  readonly view: FollowListener;
  readonly now: () => number;
  readonly logs: LogSelection;
  /** As `FollowOptions.logsFrom`. */
  readonly logsFrom?: NonNullable<FollowOptions["logsFrom"]>;
  /** As `LogsRequest.executor`. */
  readonly executor?: boolean;
  /** Fires when the job is to be ended; default: it never is. */
  readonly stop?: AbortSignal;
  /** As `FollowOptions.ending`. */
  readonly ending?: NonNullable<FollowOptions["ending"]>;
  /** As `FollowOptions.endWithinMs`. */
  readonly endWithinMs?: NonNullable<FollowOptions["endWithinMs"]>;
}

/** Follows a job that was submitted before to its end. @returns the job's exit code */
export async function watchJob(
  { id, startTimeMs }: ApplicationReport,
  { stop = new AbortController().signal, now, ...options }: WatchOptions,
): Promise<ExitCode> {
  // A cluster's clock may be ahead of ours.
  return await follow({ id, connect: connectMaster, now, sinceMs: Math.min(now(), startTimeMs), stop, ...options });
}
