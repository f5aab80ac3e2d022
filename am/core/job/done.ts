import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import type { RoleSpec } from "../../../src/job/spec.ts";
import type { RoleState } from "../state/state.ts";
import { log, roleOf, type Step } from "../state/step.ts";
import { setTimer } from "../state/timers.ts";
import { AFTER_END } from "../state/transitions.ts";
import { finish } from "./finish.ts";

/** The role whose task watches checkpoints of the others: it may finish its last evaluation after them. */
export const EVALUATOR = "evaluator";

/**
 * Ends the job when its tracked tasks are done. Untracked ones and sidecars are then stopped; an evaluator, and everybody once the
 * chief is done, first have their grace.
 */
export function finishWhenDone(step: Step): void {
  const { state, spec } = step;
  if ((state.phase === "restarting" || state.phase === "gathering") && chiefIsDone(step)) {
    // Its end was heard after a failure of another had begun a restart, which nobody needs now.
    finish(step, summarise(step));
  }
  if (state.phase !== "running" || state.verdicts.some((verdict) => verdict.held)) {
    return;
  }
  if (tracked(step).every(([role, counts]) => isDone(step, role, counts))) {
    finish(step, summarise(step));
    return;
  }
  if (!othersMayRunOn(step)) {
    state.graceEndsAtMs = 0;
    return;
  }
  if (state.graceEndsAtMs === 0) {
    state.graceEndsAtMs = step.nowMs + spec.timeouts.afterChiefMs;
    setTimer(step, "after-chief", spec.timeouts.afterChiefMs);
    const words = `The main tasks are done; the others may run on for ${spec.timeouts.afterChiefMs / 1000} s.`;
    log(step, "info", "grace-begun", words);
  }
  if (step.nowMs >= state.graceEndsAtMs || nobodyRunsOn(step)) {
    finish(step, summarise(step));
  }
}

/** Whether the job has what it ran for: from then on no other task's failure ends or restarts anything. */
export function chiefIsDone(step: Step): boolean {
  const chiefs = tracked(step).filter(([role]) => role.chief === "all");
  return chiefs.length > 0 && chiefs.every(([role, { counts }]) => counts.succeeded === role.instances);
}

/** Whether all tracked tasks are over, however they ended. */
function nobodyRunsOn(step: Step): boolean {
  return tracked(step).every(
    ([role, { counts }]) => AFTER_END.reduce((sum, phase) => sum + counts[phase], 0) === role.instances,
  );
}

function othersMayRunOn(step: Step): boolean {
  if (chiefIsDone(step)) {
    return true;
  }
  const others = tracked(step).filter(([role]) => role.name !== EVALUATOR);
  return others.length > 0 && others.every(([role, counts]) => isDone(step, role, counts));
}

function isDone(step: Step, role: RoleSpec, { counts }: RoleState): boolean {
  const failed = step.spec.failure.onWorkerFailure === "tolerate" ? counts.failed + counts.lost : 0;
  return counts.succeeded + failed === role.instances;
}

function tracked(step: Step): [RoleSpec, RoleState][] {
  return step.state.roles.flatMap((counts, position) => {
    const role = roleOf(step, { role: position });
    return role.tracking === "tracked" ? [[role, counts] satisfies [RoleSpec, RoleState]] : [];
  });
}

function summarise(step: Step): Undated {
  const roles = tracked(step);
  const tasks = roles.reduce((sum, [role]) => sum + role.instances, 0);
  const succeeded = roles.reduce((sum, [, { counts }]) => sum + counts.succeeded, 0);
  const onlyTracked = roles.length < step.spec.roles.length;
  const result = succeeded === 0 ? "failed" : "succeeded";
  return endedBecause(result, { code: "tasks-ended", succeeded, tasks, onlyTracked });
}
