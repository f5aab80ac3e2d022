import type { Budget, FailureClass } from "../../../src/job/status.ts";
import type { CoreState } from "../state/state.ts";
import type { Step } from "../state/step.ts";

type Job = Pick<Step, "spec"> & { readonly state: Pick<CoreState, "charges"> };

/** What is left of a class's budget. A restart after a failure of the infrastructure counts for a while only. */
export function budgetOf({ spec, state }: Job, failureClass: FailureClass, nowMs: number): Budget {
  const limit = spec.failure.budgets[failureClass];
  const windowMs = spec.timeouts.infrastructureWindowMs;
  const ofClass = state.charges.filter((charge) => charge.class === failureClass);
  if (failureClass === "program") {
    return { used: ofClass.length, limit };
  }
  return { used: ofClass.filter(({ atMs }) => nowMs - atMs < windowMs).length, limit, windowMs };
}

/** How many restarts were charged of late, whatever their class: a job that fails again and again waits longer and longer. */
export function recentCharges({ spec, state, nowMs }: Step): number {
  return state.charges.filter(({ atMs }) => nowMs - atMs < spec.timeouts.infrastructureWindowMs).length;
}
