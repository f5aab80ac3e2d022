import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobOutcome, JobState, JobStatus } from "../../src/job/status.ts";
import { waitOf } from "../../src/job/wait.ts";
import { hasEnded } from "./applications.ts";
import { outcomeOf } from "./outcome.ts";

/**
 * The status of a job of which only the ResourceManager's report is known: no tasks, no budgets.
 * @param delay why it does not run yet, or why there is no more to say
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

/**
 * The report of an application that the ResourceManager has forgotten since (`yarn.resourcemanager.max-completed-applications`), as far
 * as the job's last status tells it: no usage but the job's own, no tracking URL.
 */
export function reportOfStatus(status: JobStatus, user: string): ApplicationReport {
  const { applicationId: id, name, queue, outcome, startedAtMs, nowMs } = status;
  return {
    id,
    user,
    name,
    queue,
    type: "TONY",
    tags: [],
    // An AM that died reported no outcome.
    ...(outcome === undefined ? { state: "FAILED", finalStatus: "FAILED" } : endOf(outcome)),
    trackingUrl: "",
    diagnostics: outcome?.summary ?? "",
    startTimeMs: startedAtMs,
    launchTimeMs: startedAtMs,
    finishTimeMs: outcome?.endedAtMs ?? nowMs,
    progress: 1,
    priority: 0,
  };
}

/** YARN's name for a job's end. */
export function endOf({ result }: JobOutcome): Pick<ApplicationReport, "state" | "finalStatus"> {
  if (result === "killed") return { state: "KILLED", finalStatus: "KILLED" };
  return { state: "FINISHED", finalStatus: result === "succeeded" ? "SUCCEEDED" : "FAILED" };
}

/** The state of a job that has not ended. */
function stateOf({ state }: ApplicationReport): JobState {
  return state === "RUNNING" ? "running" : "starting";
}
