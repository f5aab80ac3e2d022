import { type OutcomeReason, outcomeWords, type RuleReason } from "./reasons/outcomes.ts";
import type { Cause, JobOutcome } from "./status.ts";

/** An outcome without its time. */
export type Undated = Omit<JobOutcome, "endedAtMs">;

/** The outcome of a job that did not end by one task's failure. */
export function endedBecause(result: JobOutcome["result"], reason: OutcomeReason): Undated {
  return { result, summary: outcomeWords(reason), reason };
}

/** The outcome after a failure that a rule allows no restart for. */
export function failedBy(cause: Cause, reason: RuleReason): Undated {
  const rule = outcomeWords(reason);
  return { result: "failed", summary: `${cause.summary}; ${rule}`, cause, rule, reason };
}
