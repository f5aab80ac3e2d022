import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import type { RoleSpec } from "../../../src/job/spec.ts";
import { endStage } from "../gang/stages.ts";
import {
  chiefIsDone,
  isComplete,
  isWaitedFor,
  nobodyRunsOn,
  othersMayRunOn,
  tracked,
  trackedOf,
} from "../policies/completion.ts";
import { promotable } from "../policies/trials.ts";
import type { GangState } from "../state/gang.ts";
import { isRestarting } from "../state/gang-moves.ts";
import type { RoleState } from "../state/records.ts";
import { log, type Step } from "../state/step.ts";
import { endsJob } from "../state/verdict-moves.ts";
import { finish } from "./finish.ts";
import { searchSummary } from "./search-end.ts";

/**
 * Ends the job when the tracked tasks of all its gangs are done. Untracked tasks and sidecars are then stopped; an evaluator,
 * and all tasks once the chief is done, first get their grace.
 */
export function finishWhenDone(step: Step): void {
  const { gangs } = step.state;
  const ended = gangs.filter((gang) => isOver(step, gang));
  if (step.spec.trials !== undefined) {
    for (const gang of ended) {
      endStage(step, gang);
    }
    if (gangs.every(({ phase }) => phase === "done") && promotable(step) === undefined) {
      finish(step, searchSummary(step));
    }
    return;
  }
  // Whatever failures are tolerated: a stage in which nothing succeeded leaves nothing to go on from.
  const fruitless = ended.map((gang) => trackedOf(step, gang)).find((roles) => succeededOf(roles) === 0);
  if (fruitless !== undefined) {
    finish(step, summarise(step, fruitless));
    return;
  }
  const isAwaited = (gang: GangState) => gang.phase !== "done" && !ended.includes(gang) && isWaitedFor(step, gang);
  if (!gangs.some(isAwaited)) {
    finish(step, summarise(step, tracked(step)));
    return;
  }
  for (const gang of ended) {
    endStage(step, gang);
  }
}

/** Whether the job waits for nothing of a gang any more. */
function isOver(step: Step, gang: GangState): boolean {
  if (isRestarting(gang) || gang.phase === "gathering") {
    // The chief's end was heard after another's failure had begun a restart, which nobody needs now.
    return chiefIsDone(step, gang);
  }
  if (gang.phase !== "running" || !isWaitedFor(step, gang) || gang.verdicts.some(endsJob)) {
    return false;
  }
  return isComplete(step, gang) || graceIsOver(step, gang);
}

function graceIsOver(step: Step, gang: GangState): boolean {
  const { afterChiefMs } = step.spec.timeouts;
  const hasOwnLimit = Object.keys(step.state.groupDeadlines).length > 0;
  if (!othersMayRunOn(step, gang) || hasOwnLimit) {
    gang.graceEndsAtMs = 0;
    return false;
  }
  if (gang.graceEndsAtMs === 0) {
    gang.graceEndsAtMs = step.nowMs + afterChiefMs;
    const words = `The main tasks are done; the others may run on for ${afterChiefMs / 1000} s.`;
    log(step, "info", "grace-begun", words);
  }
  return step.nowMs >= gang.graceEndsAtMs || nobodyRunsOn(step, gang);
}

function succeededOf(roles: readonly [RoleSpec, RoleState][]): number {
  return roles.reduce((sum, [, { counts }]) => sum + counts.succeeded, 0);
}

function summarise(step: Step, roles: readonly [RoleSpec, RoleState][]): Undated {
  if (step.spec.search !== undefined) {
    return searchSummary(step);
  }
  const tasks = roles.reduce((sum, [role]) => sum + role.instances, 0);
  const succeeded = succeededOf(roles);
  const onlyTracked = roles.length < step.spec.roles.length;
  const result = succeeded === 0 ? "failed" : "succeeded";
  return endedBecause(result, { code: "tasks-ended", succeeded, tasks, onlyTracked });
}
