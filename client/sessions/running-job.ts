import { MasterClient } from "../../src/api/master-client.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { delayWords } from "../../src/job/reasons/waits.ts";
import { buildId } from "../../src/programs.ts";
import { finalState, hasEnded, type MasterContact } from "../applications/applications.ts";
import { openApplications } from "../applications/backend.ts";
import { registeredReport } from "../applications/registered-report.ts";
import type { ClientContext } from "../context.ts";

/**
 * The AM of a job that runs.
 * @throws UserError where it has ended, does not run yet, or its AM cannot be asked
 */
export async function connectRunningJob(
  id: string,
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<MasterClient> {
  const { host, port, access } = await contactOf(id, settings, context);
  return new MasterClient({ address: formatHostPort({ host, port }), access, build: buildId() });
}

async function contactOf(
  id: string,
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<MasterContact> {
  const applications = await openApplications(id, settings, context);
  try {
    const report = await registeredReport(applications, await applications.report(id), context);
    if (hasEnded(report)) throw notRunning(`${id} has ended (${finalState(report)}): nothing can be run in it`);
    if (report.state !== "RUNNING")
      throw notRunning(`${id} does not run yet: ${delayWords(applications.waitingReason(report))}`);
    const contact = await applications.contact(report);
    if (contact === undefined)
      throw notRunning(`The AM of ${id} cannot be asked: ${applications.noContactReason(report)}`);
    return contact;
  } finally {
    applications.close();
  }
}

function notRunning(message: string): UserError {
  return new UserError(message, { code: "NOT_RUNNING", exitCode: ExitCode.cluster });
}
