import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ClientContext } from "../context.ts";
import { type Applications, hasEnded, type MasterContact } from "./applications.ts";

/** The AM ends a job in order within this time, or the ResourceManager ends it. */
const orderlyMs = 8_000;
const limitMs = 30_000;

/**
 * Ends an application: by its AM, so that its history and its outcome are written, else by the ResourceManager. Resolves with the report
 * of its end; throws a UserError (`STILL_RUNNING`, exit code 5) when it has not ended in time.
 */
export async function endApplication(
  applications: Applications,
  before: ApplicationReport,
  reason: string | undefined,
  { now, output }: ClientContext,
): Promise<ApplicationReport> {
  const { id } = before;
  const startedAtMs = now();
  const words = reason ?? "killed by tony-ts kill";
  const asked = await stopByMaster(applications, before, words);
  if (!asked) await applications.kill(id, words);
  let forced = !asked;
  for (;;) {
    const report = await applications.report(id);
    if (hasEnded(report)) return report;
    const takenMs = now() - startedAtMs;
    if (!forced && takenMs > orderlyMs) {
      forced = true;
      output.problem("The AM takes its time; the ResourceManager is asked to end it");
      await applications.kill(id, words);
    }
    if (takenMs > limitMs) {
      throw new UserError(`${id} has not ended after ${limitMs / 1000} s: it is ${report.state}`, {
        code: "STILL_RUNNING",
        exitCode: ExitCode.unknown,
      });
    }
    await sleep(100);
  }
}

/** Whether the AM took the request. */
async function stopByMaster(applications: Applications, report: ApplicationReport, reason: string): Promise<boolean> {
  const contact: MasterContact | undefined = await applications.contact(report).catch(() => undefined);
  if (contact === undefined) return false;
  const { connectMaster } = await import("../following/master-connection.ts");
  const link = connectMaster(contact);
  try {
    await link.stop(reason);
    return true;
  } catch {
    return false;
  } finally {
    link.close();
  }
}
