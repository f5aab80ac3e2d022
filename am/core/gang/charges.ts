import type { Budget, FailureClass } from "../../../src/job/status.ts";
import type { GangState } from "../state/gang.ts";
import type { Step } from "../state/step.ts";

/** What is left of a class's budget. A restart after a failure of the infrastructure counts for a while only. */
export function budgetOf(
  { spec }: Pick<Step, "spec">,
  gang: Pick<GangState, "charges">,
  failureClass: FailureClass,
  nowMs: number,
): Budget {
  const limit = spec.failure.budgets[failureClass];
  const windowMs = spec.timeouts.infrastructureWindowMs;
  const ofClass = gang.charges.filter((charge) => charge.class === failureClass);
  if (failureClass === "program") {
    return { used: ofClass.length, limit };
  }
  return { used: ofClass.filter(({ atMs }) => nowMs - atMs < windowMs).length, limit, windowMs };
}

/** How many restarts were charged of late, whatever their class: a gang that fails again and again waits longer and longer. */
export function recentCharges({ spec, nowMs }: Step, gang: GangState): number {
  return gang.charges.filter(({ atMs }) => nowMs - atMs < spec.timeouts.infrastructureWindowMs).length;
}
