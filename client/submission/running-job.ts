import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { Applications } from "../applications/applications.ts";
import { YarnApplications } from "../applications/yarn-applications.ts";
import { clusterOf } from "../cluster/cluster.ts";
import type { ClientContext } from "../context.ts";

/** A job that was submitted before and has not ended. */
export interface RunningJob {
  readonly report: ApplicationReport;
  /** To be closed by the caller. */
  readonly applications: Applications;
}

/**
 * The caller's job with that tag that has not ended, of several the oldest. Two submissions at the same moment do not see each other: a
 * tag keeps a later try from starting a second job, not a simultaneous one.
 */
export async function runningJob(tag: string, text: JobText, context: ClientContext): Promise<RunningJob | undefined> {
  const cluster = await clusterOf(text, context);
  const applications = new YarnApplications(cluster, readSetting(text.settings, "tony.staging-dir"), context.now);
  let report: ApplicationReport | undefined;
  try {
    [report] = await earliestFirst(applications, tag);
  } finally {
    if (report === undefined) applications.close();
  }
  return report && { report, applications };
}

async function earliestFirst(applications: Applications, tag: string): Promise<ApplicationReport[]> {
  const reports = await applications.reports({
    tags: [tag],
    users: [applications.user],
    states: ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"],
  });
  return reports.sort((a, b) => a.startTimeMs - b.startTimeMs);
}
