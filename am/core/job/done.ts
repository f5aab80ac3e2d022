import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import { chiefIsDone, isDone, nobodyRunsOn, othersMayRunOn, tracked } from "../policies/completion.ts";
import { log, type Step } from "../state/step.ts";
import { finish } from "./finish.ts";

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
  const hasOwnLimit = Object.keys(state.groupDeadlines).length > 0;
  if (!othersMayRunOn(step) || hasOwnLimit) {
    state.graceEndsAtMs = 0;
    return;
  }
  if (state.graceEndsAtMs === 0) {
    state.graceEndsAtMs = step.nowMs + spec.timeouts.afterChiefMs;
    const words = `The main tasks are done; the others may run on for ${spec.timeouts.afterChiefMs / 1000} s.`;
    log(step, "info", "grace-begun", words);
  }
  if (step.nowMs >= state.graceEndsAtMs || nobodyRunsOn(step)) {
    finish(step, summarise(step));
  }
}

function summarise(step: Step): Undated {
  const roles = tracked(step);
  const tasks = roles.reduce((sum, [role]) => sum + role.instances, 0);
  const succeeded = roles.reduce((sum, [, { counts }]) => sum + counts.succeeded, 0);
  const onlyTracked = roles.length < step.spec.roles.length;
  const result = succeeded === 0 ? "failed" : "succeeded";
  return endedBecause(result, { code: "tasks-ended", succeeded, tasks, onlyTracked });
}
