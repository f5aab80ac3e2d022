import { hostname } from "node:os";
import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { type Applications, hasEnded, type MasterContact } from "../applications/applications.ts";
import { registeredReport } from "../applications/registered-report.ts";
import type { ClientContext } from "../context.ts";
import type { AttemptConnection } from "./attempt-connection.ts";
import { MasterSession } from "./master-session.ts";

/** When an AM has not begun to end the job within this time, the ResourceManager is asked instead. */
const orderlyMs = 8_000;
/** The limit for what follows the end of the last program, or the ResourceManager's order. */
const limitMs = 30_000;

/**
 * Ends an application through its AM, so that its programs get their grace period and its history is written, or else through the
 * ResourceManager. Resolves with the report of its end; throws a UserError (`STILL_RUNNING`, exit code 5) when it has not ended in time.
 */
export async function endApplication(
  applications: Applications,
  before: ApplicationReport,
  reason: string | undefined,
  { now, output }: Pick<ClientContext, "now" | "output">,
  connect?: (contact: MasterContact) => AttemptConnection,
): Promise<ApplicationReport> {
  const { id } = before;
  const words = killedBy(applications.user, "tony-ts kill", reason);
  const reachable = await registeredReport(applications, before, { now, output });
  const asked = await askMaster(applications, reachable, words, now, connect);
  try {
    if (asked === undefined) await applications.kill(id, words);
    let forced = asked === undefined;
    let limitAtMs = now() + limitMs;
    const orderlyUntilMs = now() + orderlyMs;
    for (;;) {
      const report = await applications.report(id);
      if (hasEnded(report)) return report;
      limitAtMs = Math.max(limitAtMs, (asked?.stoppedAtMs ?? 0) + limitMs);
      if (!forced && now() > orderlyUntilMs && asked?.isEnding !== true) {
        forced = true;
        output.problem("The AM has not ended it yet; asking the ResourceManager to end it");
        await applications.kill(id, words);
      }
      if (now() > limitAtMs) throw stillRunning(report);
      await sleep(100);
    }
  } finally {
    asked?.close();
  }
}

function stillRunning({ id, state }: ApplicationReport): UserError {
  return new UserError(`${id} has not ended in time: it is ${state}`, {
    code: "STILL_RUNNING",
    exitCode: ExitCode.unknown,
  });
}

/** The AM's messages from then on; undefined when no AM accepted the request. */
async function askMaster(
  applications: Applications,
  report: ApplicationReport,
  reason: string,
  now: () => number,
  connect?: (contact: MasterContact) => AttemptConnection,
): Promise<MasterSession | undefined> {
  const contact: MasterContact | undefined = await applications.contact(report).catch(() => undefined);
  if (contact === undefined) return undefined;
  const { connectMaster } = await import("./master-connection.ts");
  const events = { status: () => undefined, outcome: () => undefined, closed: () => undefined };
  const session = new MasterSession(contact, (connect ?? connectMaster)(contact), events, now);
  try {
    await session.link.stop(reason);
    return session;
  } catch {
    session.close();
    return undefined;
  }
}

/**
 * What is later shown of the job's end: who ended it, from where, and how or why.
 * @param how `SIGINT`, `tony-ts kill`
 * @param reason given by that user
 */
export function killedBy(user: string, how: string, reason?: string): string {
  const who = `killed by ${user} from ${hostname()}`;
  return reason === undefined ? `${who} (${how})` : `${who}: ${reason}`;
}
