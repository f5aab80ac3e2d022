import { sleep } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { delayWords } from "../../src/job/reasons/waits.ts";
import type { ClientContext } from "../context.ts";
import type { Applications } from "./applications.ts";

/** An AM that lives tries again every few seconds; one that does not is given up by YARN, which then says so itself. */
const limitMs = 30_000;
const lookAgainMs = 200;

/**
 * Whether the ResourceManager has restarted, or taken over from another, and the AM has not registered with it yet
 * (org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttemptImpl#recover): until then it does not say where the AM is.
 */
export function awaitsRegistration({ state, diagnostics }: ApplicationReport): boolean {
  return state === "ACCEPTED" && diagnostics.includes("Attempt recovered after RM restart");
}

/**
 * The report of an application once its AM has registered with a ResourceManager that has restarted or taken over, told what is waited
 * for; after a while as it is. A report that says nothing of that is given back at once.
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
