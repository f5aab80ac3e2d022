import { parseApplicationId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";

/** The caller's job with that tag that has not ended; the first of several. */
export async function runningJob(
  tag: string,
  applications: Pick<Applications, "reports" | "user">,
): Promise<ApplicationReport | undefined> {
  const [first] = await firstTakenFirst(applications, tag);
  return first;
}

/**
 * The caller's job with that tag that the ResourceManager accepted before this one, and that has not ended. Concurrent submissions do not
 * see each other at first, so each looks again once it is accepted: then it sees all that were accepted before it, and only the first one
 * stays. The order is that of acceptance, not of the ids, which are assigned earlier: an application with a lower id may be accepted
 * after such a look.
 */
export async function takenBefore(
  id: string,
  tag: string,
  applications: Pick<Applications, "reports" | "user">,
): Promise<ApplicationReport | undefined> {
  const reports = await firstTakenFirst(applications, tag);
  return reports.findIndex((report) => report.id === id) > 0 ? reports[0] : undefined;
}

async function firstTakenFirst(
  applications: Pick<Applications, "reports" | "user">,
  tag: string,
): Promise<ApplicationReport[]> {
  const reports = await applications.reports({
    tags: [tag],
    users: [applications.user],
    states: ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"],
  });
  const number = ({ id }: ApplicationReport) => parseApplicationId(id).application;
  return reports.sort((a, b) => a.startTimeMs - b.startTimeMs || number(a) - number(b));
}
