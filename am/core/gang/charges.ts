import type { JobSpec } from "../../../src/job/spec.ts";
import type { Budget } from "../../../src/job/status.ts";
import type { Payer } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { Step } from "../state/step.ts";

/** A budget and how much of it is used. A restart after an infrastructure failure counts only for a while. */
export function budgetOf(
  { spec }: Pick<Step, "spec">,
  gang: Pick<GangState, "charges">,
  payer: Payer,
  nowMs: number,
): Budget {
  const limit = limitOf(spec, payer);
  const windowMs = spec.timeouts.infrastructureWindowMs;
  const own = gang.charges.filter((charge) => isSamePayer(charge, payer));
  if (payer.class === "program") {
    return { used: own.length, limit };
  }
  return { used: own.filter(({ atMs }) => nowMs - atMs < windowMs).length, limit, windowMs };
}

/** Gives the last charge to this budget back: it was not for this budget to pay. */
export function refund({ charges }: GangState, payer: Payer): void {
  const position = charges.findLastIndex((charge) => isSamePayer(charge, payer));
  if (position >= 0) {
    charges.splice(position, 1);
  }
}

export function isSamePayer(one: Payer, other: Payer): boolean {
  return one.class === other.class && one.role === other.role;
}

function limitOf({ roles, failure: { budgets } }: JobSpec, { class: failureClass, role }: Payer): number {
  return roles.find(({ name }) => name === role)?.retryCount ?? budgets[failureClass];
}

/**
 * How many restarts were charged recently, whatever their class: a gang that fails again and again waits longer and longer.
 */
export function recentCharges({ spec, nowMs }: Step, gang: GangState): number {
  return gang.charges.filter(({ atMs }) => nowMs - atMs < spec.timeouts.infrastructureWindowMs).length;
}
