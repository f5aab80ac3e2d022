import { clientAccessFile, parsePageKey } from "../../src/api/identity.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { Applications } from "../applications/applications.ts";
import { hasEnded } from "../applications/applications.ts";

/**
 * The address of a job's page at YARN's proxy. Its last part, which a browser never sends, is the secret that shows the
 * whole job.
 * @throws UserError (`NO_PAGE`) where the job has no page, or is not the caller's
 */
export async function pageAddress(
  id: string,
  applications: Pick<Applications, "report" | "readStaged" | "user">,
): Promise<string> {
  const report = await applications.report(id);
  const here = `tony-ts page ${id} shows it on this machine`;
  if (hasEnded(report)) throw noPage(`${id} has ended, and its page with it: tony-ts status ${id}`);
  if (applications.readStaged === undefined) throw noPage(`A local job has no page at a proxy\n  ${here}`);
  if (report.user !== applications.user)
    throw noPage(
      `Only ${report.user}, the owner of ${id}, can print the address of its page\n  ${here}, if you may see the job`,
    );
  const access = await applications.readStaged(id, clientAccessFile).catch(unreadable(id));
  if (report.state !== "RUNNING") throw noPage(`${id} does not run yet, so it has no page`);
  return `${report.trackingUrl}#${keyIn(access.toString("utf8"), id, here)}`;
}

function keyIn(access: string, id: string, here: string): string {
  try {
    return parsePageKey(access);
  } catch (cause) {
    const what = `YARN's proxy does not show all of ${id} to anyone`;
    throw noPage(`${what}\n  ${here}; submit with -conf tony.am.page.enabled=true for an address`, cause);
  }
}

function noPage(message: string, cause?: unknown): UserError {
  return new UserError(message, { code: "NO_PAGE", exitCode: ExitCode.cluster, cause });
}

function unreadable(id: string) {
  return (cause: unknown) => {
    throw noPage(`The staging folder of ${id} cannot be read: ${errorMessage(cause)}`, cause);
  };
}
