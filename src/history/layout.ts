import path from "node:path";
import type { JobOutcome } from "../job/status.ts";

/** The names under a history location, as TonY lays it out: `<location>/intermediate/<applicationId>/…` while and after a job runs. */
export function historyFolder(location: string, applicationId: string): string {
  return path.posix.join(location, "intermediate", applicationId);
}

/** The file that a running job's events are added to; one for all its attempts. */
export const historyFileInProgress = "events.jsonl.inprogress";

/** The file's name once the job has ended. A user's name may hold a `-`: read from both ends. */
export function finishedHistoryFile(job: {
  readonly applicationId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly user: string;
  readonly result: JobOutcome["result"];
}): string {
  const { applicationId, startedAtMs, endedAtMs, user, result } = job;
  return `${applicationId}-${startedAtMs}-${endedAtMs}-${user}-${result.toUpperCase()}.jsonl`;
}
