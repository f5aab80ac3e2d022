import { type OutcomeReason, outcomeWords, type RuleReason } from "./reasons/outcomes.ts";
import type { Cause, JobOutcome } from "./status.ts";

/** An outcome that no time belongs to yet. */
export type Undated = Omit<JobOutcome, "endedAtMs">;

/** A job that ended for a reason that is no one task's failure. */
export function endedBecause(result: JobOutcome["result"], reason: OutcomeReason): Undated {
  return { result, summary: outcomeWords(reason), reason };
}

/** A failure after which a rule allows no restart. */
export function failedBy(cause: Cause, reason: RuleReason): Undated {
  const rule = outcomeWords(reason);
  return { result: "failed", summary: `${cause.summary}; ${rule}`, cause, rule, reason };
}
