import type { StopReason } from "../../../src/job/reasons/stops.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { mayMove } from "../../../src/moves.ts";
import { chiefIsDone } from "../policies/completion.ts";
import { isElastic, isShareDone, restartsWithGang } from "../policies/restart.ts";
import { deadlineIn, rejoinLeftMs } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import { moveGang } from "../state/gang-moves.ts";
import type { TaskRecord } from "../state/records.ts";
import { emit, findTask, gangOf, log, rolesOf, type Step, tasksOf } from "../state/step.ts";
import { AFTER_END, BEFORE_START, moveTask, TASK } from "../state/task-moves.ts";
import { recentCharges } from "./charges.ts";
import { nextGeneration, openGeneration, renewTask } from "./generation.ts";

/** Whether anything restarts with the gang: where every task lives on its own, or is never restarted, the gang keeps its phase. */
export function hasGangRestart(step: Step, gang: GangState): boolean {
  return rolesOf(step, gang).some(([position]) => restartsWithGang(step, { role: position }));
}

/** Tells the gang's programs to stop; containers stay. Only `openNext` opens another generation. */
export function tearDown(step: Step, gang: GangState, reason: string): void {
  moveGang(step, gang, "task-failed");
  const current = gang.generations.at(-1);
  if (current !== undefined) {
    current.endedAtMs = step.nowMs;
  }
  for (const task of tasksOf(step, gang)) {
    if (restartsWithGang(step, task)) {
      stopChild(step, task, { code: "generation-ended", why: reason });
    }
  }
  gang.stopDeadline = deadlineIn(step, rejoinLeftMs(step) + stopWithinMs(step.spec.timeouts));
}

export function stopChild(step: Step, task: TaskRecord, reason: StopReason): void {
  if (mayMove(TASK, task.phase, "stop-ordered")) {
    moveTask(step, task, "stop-ordered");
    resendStop(step, task, reason);
  }
}

export function resendStop(step: Step, task: TaskRecord, reason: StopReason): void {
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: task.containerId },
    message: { type: "stop-child", generation: task.generation, graceMs: step.spec.timeouts.stopGraceMs, reason },
  });
}

/** Begins the next generation: every member whose program is gone prepares for it at once, the others when theirs end. */
export function openNext(step: Step, gang: GangState, reason: string): void {
  gang.restartReason = reason;
  gang.startNotBeforeMs = step.nowMs + restartDelayMs(step, recentCharges(step, gang));
  moveGang(step, gang, "generation-opened");
  renewGang(step, gang);
  const { generation } = gang;
  log(step, "warn", "generation-restart", `Restarting as generation ${generation}: ${reason}.`, { generation });
}

/**
 * The first charged restart is immediate, the second waits, each further one twice as long up to the longest wait. Unlike the back-off of
 * calls (src/hadoop/back-off.ts) it has no jitter: no other gang restarts because of the same failure, and the core knows no randomness.
 */
function restartDelayMs({ spec }: Step, charged: number): number {
  const { initialMs, maxMs } = spec.failure.backOff;
  return charged < 2 ? 0 : Math.min(maxMs, initialMs * 2 ** Math.min(charged - 2, 30));
}

/** A paused trial goes on, as far as its programs are gone. Its pause ended them, whatever they exited with. */
export function resumeTrial(step: Step, gang: GangState, reason: string): void {
  const paused = gang.generations.at(-1);
  if (paused !== undefined) {
    paused.endedBy = undefined;
  }
  gang.restartReason = reason;
  gang.startNotBeforeMs = step.nowMs;
  moveGang(step, gang, "trial-goes-on");
  renewGang(step, gang);
}

function renewGang(step: Step, gang: GangState): void {
  openGeneration(step, gang);
  for (const task of tasksOf(step, gang)) {
    if (restartsWithGang(step, task) && isSettled(task)) {
      renewTask(step, task, gang.generation);
    }
  }
}

/** A restart caused by no failure, only by the death of an earlier attempt of the ApplicationMaster. */
export function restartUncharged(step: Step, gang: GangState, reason: string): void {
  if (gang.phase === "ending") {
    return;
  }
  if (gang.phase === "running") {
    tearDown(step, gang, reason);
  }
  openNext(step, gang, reason);
}

/** A member's program of the old generation is gone: if the next generation is already open, the task joins it. */
export function joinNext(step: Step, task: TaskRecord): void {
  const gang = gangOf(step, task);
  const isBehind = gang.phase === "restarting" && task.generation < gang.generation;
  if (isBehind && restartsWithGang(step, task) && !chiefIsDone(step, gang)) {
    renewTask(step, task, gang.generation);
  }
}

/** The gang gathers again once no program of the old generation is left. */
export function continueRestart(step: Step, gang: GangState): void {
  if (gang.phase === "restarting" && !anyStopping(step, gang)) {
    moveGang(step, gang, "all-stopped");
    gang.stopDeadline = undefined;
  }
}

/** Restarts one task that lives on its own; the others go on. */
export function renewAlone(step: Step, taskId: string, reason: string): void {
  const task = findTask(step, taskId);
  if (task === undefined || !isSettled(task)) {
    return;
  }
  if (isElastic(step, task) && isShareDone(step, task)) {
    moveTask(step, task, "not-needed");
    return;
  }
  const generation = nextGeneration(step);
  task.restarts++;
  task.restartReason = reason;
  log(step, "warn", "task-restart", `Starting ${task.id} again alone: ${reason}.`, { task: task.id, generation });
  renewTask(step, task, generation);
}

function isSettled(task: TaskRecord): boolean {
  return AFTER_END.includes(task.phase) || BEFORE_START.includes(task.phase);
}

function anyStopping(step: Step, gang: GangState): boolean {
  return rolesOf(step, gang).some(
    ([position, { counts }]) => counts.stopping > 0 && restartsWithGang(step, { role: position }),
  );
}
