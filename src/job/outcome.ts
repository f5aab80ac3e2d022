import type { ApplicationReport } from "../hadoop/yarn/records.ts";
import { type OutcomeReason, outcomeWords, type RuleReason } from "./reasons/outcomes.ts";
import type { Cause, JobOutcome } from "./status.ts";

/** An outcome without its time. */
export type Undated = Omit<JobOutcome, "endedAtMs">;

/** The outcome of a job whose end was not one task's failure. */
export function endedBecause(result: JobOutcome["result"], reason: OutcomeReason): Undated {
  return { result, summary: outcomeWords(reason), reason };
}

/** The outcome after a failure for which a rule allows no restart. */
export function failedBy(cause: Cause, reason: RuleReason): Undated {
  const rule = outcomeWords(reason);
  return { result: "failed", summary: `${cause.summary}; ${rule}`, cause, rule, reason };
}

export function hasEnded({ state }: ApplicationReport): boolean {
  return state === "FINISHED" || state === "FAILED" || state === "KILLED";
}

/**
 * The outcome of an ended application, as far as the ResourceManager knows it.
 * @param said why it ended; default: its diagnostics
 */
export function yarnOutcome(report: ApplicationReport, nowMs: number, said = saidOf(report)): JobOutcome {
  const { state, finishTimeMs } = report;
  const reason = { code: "application-ended", state, ...(said === "" ? {} : { words: said }) } as const;
  return { ...endedBecause(resultOf(report), reason), endedAtMs: finishTimeMs === 0 ? nowMs : finishTimeMs };
}

/** RMAppImpl puts who killed an application, and from where, in front of that client's message; ours includes both. */
function saidOf({ diagnostics }: ApplicationReport): string {
  return diagnostics.trim().replace(/^Application \S+ was killed by .* with diagnostic message: (?=killed by )/, "");
}

function resultOf({ state, finalStatus }: ApplicationReport): JobOutcome["result"] {
  if (state === "KILLED" || finalStatus === "KILLED") return "killed";
  return state === "FINISHED" && finalStatus === "SUCCEEDED" ? "succeeded" : "failed";
}
