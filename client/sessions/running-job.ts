import { ExitCode, UserError } from "../../src/errors.ts";
import { delayWords } from "../../src/job/reasons/waits.ts";
import { type Applications, finalState, hasEnded, type MasterContact } from "../applications/applications.ts";
import { openApplications } from "../applications/backend.ts";
import { registeredReport } from "../applications/registered-report.ts";
import type { ClientContext } from "../context.ts";
import { connectMaster, type MasterConnection } from "../master/master-connection.ts";

/**
 * The AM of a running job.
 * @throws UserError (`HAS_ENDED`) where the job has ended, (`NOT_RUNNING`) where it does not run yet, or its AM cannot be
 * asked
 */
export async function connectRunningJob(
  id: string,
  settings: readonly string[] | undefined,
  context: ClientContext,
): Promise<MasterConnection> {
  const applications = await openApplications(id, settings, context);
  try {
    return connectMaster(await contactOfRunning(id, applications, context));
  } finally {
    applications.close();
  }
}

/** Where the AM of a running job is, and as whom to ask it. @throws as connectRunningJob */
export async function contactOfRunning(
  id: string,
  applications: Applications,
  context: Pick<ClientContext, "now" | "output">,
): Promise<MasterContact> {
  const report = await registeredReport(applications, await applications.report(id), context);
  if (hasEnded(report)) {
    const message = `${id} has ended (${finalState(report)}): this needs a running job`;
    throw new UserError(message, { code: "HAS_ENDED", exitCode: ExitCode.cluster });
  }
  if (report.state !== "RUNNING")
    throw notRunning(`${id} does not run yet: ${delayWords(await applications.waitingReason(report))}`);
  const contact = await applications.contact(report);
  if (contact === undefined)
    throw notRunning(`The AM of ${id} cannot be asked: ${applications.noContactReason(report)}`);
  return contact;
}

function notRunning(message: string): UserError {
  return new UserError(message, { code: "NOT_RUNNING", exitCode: ExitCode.cluster });
}
