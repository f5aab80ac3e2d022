import { sleep } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { delayWords } from "../../src/job/reasons/waits.ts";
import type { ClientContext } from "../context.ts";
import type { Applications } from "./applications.ts";

/** A live AM tries again every few seconds; YARN gives up one that is gone, and says so itself. */
const limitMs = 30_000;
const lookAgainMs = 200;

/**
 * Whether the ResourceManager has restarted or taken over from another, and the AM has not registered with it yet
 * (org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptImpl#recover): until then the report does not say where
 * the AM is.
 */
export function awaitsRegistration({ state, diagnostics }: ApplicationReport): boolean {
  return state === "ACCEPTED" && diagnostics.includes("Attempt recovered after RM restart");
}

/**
 * The report of an application once its AM has registered with a ResourceManager that has restarted or taken over; the caller is told
 * what it waits for. After a while the report is returned as it is; one that does not mention a recovery is returned at once.
 */
export async function registeredReport(
  applications: Pick<Applications, "report">,
  report: ApplicationReport,
  { output, now }: Pick<ClientContext, "output" | "now">,
  pause: (delayMs: number) => Promise<void> = sleep,
): Promise<ApplicationReport> {
  if (!awaitsRegistration(report)) return report;
  const giveUpAtMs = now() + limitMs;
  const line = `Waiting for up to 30 s: ${delayWords({ code: "am-registers-again" })}`;
  try {
    for (;;) {
      output.waitAside({ lines: [line], cause: "the AM's registration", line, change: "", facts: [] });
      await pause(lookAgainMs);
      const later = await applications.report(report.id);
      if (!awaitsRegistration(later) || now() >= giveUpAtMs) return later;
    }
  } finally {
    output.endWait();
  }
}
