import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { FailureClass } from "../../../src/job/status.ts";
import { budgetOf } from "../gang/charges.ts";
import type { GangState } from "../state/gang.ts";
import type { Step } from "../state/step.ts";

/** Takes one restart from the gang's budget of the class; false when none is left. */
export function charge(step: Step, gang: GangState, failureClass: FailureClass): boolean {
  if (!isLeft(step, gang, failureClass)) {
    return false;
  }
  gang.charges.push({ class: failureClass, atMs: step.nowMs });
  return true;
}

export function isLeft(step: Step, gang: GangState, failureClass: FailureClass): boolean {
  const { used, limit } = budgetOf(step, gang, failureClass, step.nowMs);
  return used < limit;
}

/** The last charge of the class was not its to pay. */
export function refund({ charges }: GangState, failureClass: FailureClass): void {
  const position = charges.findLastIndex((charge) => charge.class === failureClass);
  if (position >= 0) {
    charges.splice(position, 1);
  }
}

/** That no restart is left, or that none was allowed, and which key allows more. */
export function spentRule(step: Step, gang: GangState, failureClass: FailureClass): RuleReason {
  const key = failureClass === "program" ? "tony.am.retry-count" : "tony.failure.infrastructure-retries";
  const { limit, windowMs } = budgetOf(step, gang, failureClass, step.nowMs);
  const within = windowMs === undefined ? {} : { windowMs };
  return { code: "budget-spent", class: failureClass, limit, ...within, setting: settingOf(step.spec, key) };
}
