import { clientAccessFile, parsePageKey } from "../../src/api/identity.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { jobFileName } from "../../src/job/stored/stored-job.ts";
import type { Applications } from "../applications/applications.ts";
import { hasEnded } from "../applications/applications.ts";

/**
 * The address of a job's page at YARN's proxy. Its last part, which a browser sends to nobody, is what shows the whole job.
 * @throws UserError (`NO_PAGE`) where it has none, or is not the caller's
 */
export async function pageAddress(
  id: string,
  applications: Pick<Applications, "report" | "readStaged" | "user">,
): Promise<string> {
  const report = await applications.report(id);
  if (hasEnded(report)) throw noPage(`${id} has ended, and its page with it: tony-ts status ${id}`);
  if (applications.readStaged === undefined) throw noPage("A job of this machine has no page");
  if (report.user !== applications.user)
    throw noPage(`${id} is ${report.user}'s, who alone can tell its page's address`);
  const read = (name: string) => applications.readStaged?.(id, name).catch(unreadable(id)) ?? Buffer.of();
  const [job, access] = await Promise.all([read(jobFileName), read(clientAccessFile)]);
  if (parseJobFile(job.toString("utf8")).spec.am.page !== true)
    throw noPage(`${id} has no page\n  Submit it with -conf tony.am.page.enabled=true`);
  if (report.state !== "RUNNING") throw noPage(`${id} does not run yet, nor is its page served`);
  return `${report.trackingUrl}#${parsePageKey(access.toString("utf8"))}`;
}

function noPage(message: string): UserError {
  return new UserError(message, { code: "NO_PAGE", exitCode: ExitCode.cluster });
}

function unreadable(id: string) {
  return (cause: unknown) => {
    throw noPage(`The staging folder of ${id} cannot be read: ${errorMessage(cause)}`);
  };
}
