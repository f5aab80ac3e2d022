import type { RoleSpec } from "../../../src/job/spec.ts";
import type { RoleState } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";
import { AFTER_END } from "../state/transitions.ts";

/** The role whose task watches checkpoints of the others: it may finish its last evaluation after them. */
export const EVALUATOR = "evaluator";

/** Whether the job has what it ran for: from then on no other task's failure ends or restarts anything. */
export function chiefIsDone(step: Step): boolean {
  const chiefs = tracked(step).filter(([role]) => role.chief === "all");
  return chiefs.length > 0 && chiefs.every(([role, { counts }]) => counts.succeeded === role.instances);
}

/** Whether all tracked tasks are over, however they ended. */
export function nobodyRunsOn(step: Step): boolean {
  return tracked(step).every(([role, counts]) => hasEnded(role, counts));
}

/** Whether all tasks of a role are over, however they ended. */
export function hasEnded({ instances }: RoleSpec, { counts }: RoleState): boolean {
  return AFTER_END.reduce((sum, phase) => sum + counts[phase], 0) === instances;
}

export function othersMayRunOn(step: Step): boolean {
  if (chiefIsDone(step)) {
    return true;
  }
  const others = tracked(step).filter(([role]) => role.name !== EVALUATOR);
  return others.length > 0 && others.every(([role, counts]) => isDone(step, role, counts));
}

export function isDone(step: Step, role: RoleSpec, { counts }: RoleState): boolean {
  const failed = step.spec.failure.onWorkerFailure === "tolerate" ? counts.failed + counts.lost : 0;
  return counts.succeeded + failed === role.instances;
}

export function tracked(step: Step): [RoleSpec, RoleState][] {
  return step.state.roles.flatMap((counts, position) => {
    const role = roleOf(step, { role: position });
    return role.tracking === "tracked" && !step.state.untracked.includes(role.name)
      ? [[role, counts] satisfies [RoleSpec, RoleState]]
      : [];
  });
}
