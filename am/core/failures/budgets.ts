import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { FailureClass } from "../../../src/job/status.ts";
import type { Step } from "../state/step.ts";

/** Takes one restart from the budget of the class; false when none is left. */
export function charge(step: Step, failureClass: FailureClass): boolean {
  if (step.state.used[failureClass] >= step.spec.failure.budgets[failureClass]) {
    return false;
  }
  step.state.used[failureClass]++;
  return true;
}

export function refund(step: Step, failureClass: FailureClass): void {
  step.state.used[failureClass]--;
}

/** That no restart is left, or that none was allowed, and which key allows more. */
export function spentRule(step: Step, failureClass: FailureClass): RuleReason {
  const key = failureClass === "program" ? "tony.am.retry-count" : "tony.failure.infrastructure-retries";
  const limit = step.spec.failure.budgets[failureClass];
  return { code: "budget-spent", class: failureClass, limit, setting: settingOf(step.spec, key) };
}
