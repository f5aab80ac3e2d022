import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobState, JobStatus } from "../../src/job/status.ts";
import { waitOf } from "../../src/job/wait.ts";
import { hasEnded } from "./applications.ts";
import { outcomeOf } from "./outcome.ts";

/**
 * The state of a job of which only the ResourceManager's report is known: no tasks, no budgets.
 * @param delay why it does not run yet, or why nobody says more
 */
export function statusOfReport(report: ApplicationReport, delay: DelayReason | undefined, nowMs: number): JobStatus {
  const { id, name, queue, startTimeMs, currentAttemptId, usage } = report;
  const outcome = hasEnded(report) ? outcomeOf(report, undefined, nowMs) : undefined;
  const wait = waitOf({ reason: { code: "am" }, sinceMs: startTimeMs, delays: delay === undefined ? [] : [delay] });
  return {
    statusVersion: 1,
    applicationId: id,
    attempt: currentAttemptId === undefined ? 1 : parseAttemptId(currentAttemptId).attempt,
    name,
    queue: queue.slice(queue.lastIndexOf(".") + 1),
    state: outcome?.result ?? stateOf(report),
    generation: 1,
    startedAtMs: startTimeMs,
    nowMs,
    amHost: report.amHost ?? "",
    roles: [],
    tasks: [],
    waits: outcome === undefined ? [wait] : [],
    generations: [],
    budgets: { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 0 } },
    services: [],
    usage: { memoryMiBSeconds: usage?.memorySeconds ?? 0, vcoreSeconds: usage?.vcoreSeconds ?? 0 },
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** Of a job that has not ended. */
function stateOf({ state }: ApplicationReport): JobState {
  return state === "RUNNING" ? "running" : "starting";
}
