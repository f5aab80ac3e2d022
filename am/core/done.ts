import type { RoleSpec } from "../../src/job/spec.ts";
import { finish } from "./finish.ts";
import type { RoleState } from "./state.ts";
import { log, roleOf, type Step } from "./step.ts";
import { setTimer } from "./timers.ts";
import { countWords } from "./words.ts";

/** The role whose task watches checkpoints of the others: it may finish its last evaluation after them. */
export const EVALUATOR = "evaluator";

/**
 * Ends the job when its tracked tasks are done. Untracked ones and sidecars are then stopped; an evaluator, and everybody once the
 * chief is done, first have their grace.
 */
export function finishWhenDone(step: Step): void {
  const { state, spec } = step;
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
  if (step.nowMs >= state.graceEndsAtMs) {
    finish(step, summarise(step));
  }
}

function othersMayRunOn(step: Step): boolean {
  const roles = tracked(step);
  const chiefs = roles.filter(([role]) => role.chief === "all");
  if (chiefs.length > 0 && chiefs.every(([role, counts]) => isDone(step, role, counts))) {
    return true;
  }
  const others = roles.filter(([role]) => role.name !== EVALUATOR);
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

function summarise(step: Step) {
  const roles = tracked(step);
  const all = roles.reduce((sum, [role]) => sum + role.instances, 0);
  const good = roles.reduce((sum, [, { counts }]) => sum + counts.succeeded, 0);
  const summary = `${good} of ${countWords(all, "task")} exited 0`;
  return good === 0 ? ({ result: "failed", summary } as const) : ({ result: "succeeded", summary } as const);
}
