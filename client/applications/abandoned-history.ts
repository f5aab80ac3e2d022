import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { JobHistoryFolder } from "../../src/history/job-folder.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { outcomeOf } from "./outcome.ts";

/** An ApplicationMaster that has told the ResourceManager of the job's end closes its history at the same time, within this time. */
const closedWithinMs = 60_000;

/**
 * Ends the history of a job whose ApplicationMaster could not do so because YARN killed it or all its attempts failed. The staging folder of
 * such a job, with the job file in it, still exists.
 * @returns false while the ApplicationMaster may still be closing the history: the staging folder has to stay
 */
export async function closeAbandonedHistory(
  { applicationId, spec, user }: Pick<JobFile, "applicationId" | "spec" | "user">,
  fileSystems: FileSystems,
  { reportOf, nowMs }: { readonly reportOf: (id: string) => Promise<ApplicationReport>; readonly nowMs: number },
): Promise<boolean> {
  const history = JobHistoryFolder.of(fileSystems, spec.history, applicationId);
  if (history === undefined || !(await history.isInProgress())) return true;
  const report = await reportOf(applicationId);
  const { state, finishTimeMs: endedAtMs, startTimeMs: startedAtMs } = report;
  if (state === "FINISHED" && Math.abs(nowMs - endedAtMs) < closedWithinMs) return false;
  const { result } = outcomeOf(report, undefined, endedAtMs);
  await history.closeAbandoned({ applicationId, startedAtMs, user }, { endedAtMs, result });
  return true;
}
