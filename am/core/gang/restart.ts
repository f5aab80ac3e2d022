import { letGo } from "../containers/containers.ts";
import { backOffMs } from "../failures/budgets.ts";
import { overdueEnding } from "../failures/endings.ts";
import { chiefIsDone } from "../job/done.ts";
import type { Ending, TaskRecord } from "../state/state.ts";
import { emit, findTask, inGang, log, roleOf, type Step } from "../state/step.ts";
import { Bounds, setTimer } from "../state/timers.ts";
import { AFTER_END, BEFORE_START, moveTask } from "../state/transitions.ts";
import { openGeneration, renewTask } from "./generation.ts";

/** The gang's programs are told to stop; containers stay. Another generation is opened only by `openNext`. */
export function tearDown(step: Step, reason: string): void {
  const { state, spec } = step;
  state.phase = "restarting";
  const current = state.generations.at(-1);
  if (current !== undefined) {
    current.endedAtMs = step.nowMs;
  }
  for (const task of state.tasks) {
    if (isMember(step, task)) {
      stopChild(step, task, reason);
    }
  }
  const boundMs = spec.timeouts.stopGraceMs + Bounds.stopMarginMs;
  setTimer(step, "tear-down", boundMs);
}

/** Tells one task's program to stop. */
export function stopChild(step: Step, task: TaskRecord, reason: string): void {
  if (moveTask(step, task, ["starting", "running"], "stopping")) {
    resendStop(step, task, reason);
  }
}

export function resendStop(step: Step, task: TaskRecord, reason: string): void {
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: task.containerId },
    message: { type: "stop-child", generation: task.generation, graceMs: step.spec.timeouts.stopGraceMs, reason },
  });
}

/** The next generation begins: every member whose program is gone makes ready at once, the others as theirs end. */
export function openNext(step: Step, reason: string): void {
  const { state } = step;
  const delayMs = backOffMs(step, state.generations.length - 1);
  state.restartReason = reason;
  state.startNotBeforeMs = step.nowMs + delayMs;
  if (delayMs > 0) {
    setTimer(step, "back-off", delayMs);
  }
  renewGang(step);
  log(step, "warn", "generation-restart", `Restarting as generation ${state.generation}: ${reason}.`, {
    generation: state.generation,
  });
}

function renewGang(step: Step): void {
  openGeneration(step);
  for (const task of step.state.tasks) {
    if (isMember(step, task) && isSettled(task)) {
      renewTask(step, task, step.state.generation);
    }
  }
}

/** A restart that nobody's failure causes but the death of an earlier attempt of the ApplicationMaster. */
export function restartUncharged(step: Step, reason: string): void {
  const { state } = step;
  if (state.phase === "restarting" && state.started) {
    return;
  }
  if (state.phase === "running") {
    tearDown(step, reason);
  }
  openNext(step, reason);
}

/** A member's program of the old generation is gone: where the next generation is open already, the task joins it. */
export function joinNext(step: Step, task: TaskRecord): void {
  const { state } = step;
  const isBehind = state.phase === "restarting" && !state.started && task.generation < state.generation;
  if (isBehind && isMember(step, task) && !chiefIsDone(step)) {
    renewTask(step, task, state.generation);
  }
}

/** Gathering again once no program of the old generation is left. */
export function continueRestart(step: Step): void {
  const { state } = step;
  if (state.phase === "restarting" && !state.started && !anyStopping(step)) {
    state.phase = "gathering";
    step.changed = true;
  }
}

/** The time to stop is up: containers of programs that still run are stopped. */
export function tearDownTimer(step: Step): Ending[] {
  const endings: Ending[] = [];
  if (step.state.phase !== "restarting") {
    return endings;
  }
  for (const task of step.state.tasks) {
    const container = step.state.containers[task.containerId];
    if (task.phase === "stopping" && isMember(step, task) && container !== undefined) {
      log(step, "warn", "stop-overdue", `${task.id} did not stop in time: its container is stopped.`, {
        task: task.id,
      });
      endings.push(overdueEnding(step, task, container));
      letGo(step, container, "its program did not stop in time", true);
      moveTask(step, task, ["stopping"], "lost");
      joinNext(step, task);
    }
  }
  return endings;
}

/** Starts one task again that lives on its own; the others go on. */
export function renewAlone(step: Step, taskId: string, reason: string): void {
  const task = findTask(step, taskId);
  if (task === undefined || !isSettled(task)) {
    return;
  }
  step.state.lastGeneration++;
  step.state.journal.dirty = true;
  task.restarts++;
  task.restartReason = reason;
  log(step, "warn", "task-restart", `Starting ${task.id} again alone: ${reason}.`, {
    task: task.id,
    generation: step.state.lastGeneration,
  });
  renewTask(step, task, step.state.lastGeneration);
}

/** Whether the task's restart is the gang's. */
export function isMember(step: Step, task: TaskRecord): boolean {
  return inGang(step, roleOf(step, task));
}

function isSettled(task: TaskRecord): boolean {
  return AFTER_END.includes(task.phase) || BEFORE_START.includes(task.phase);
}

function anyStopping(step: Step): boolean {
  return step.state.roles.some(
    ({ counts }, position) => counts.stopping > 0 && inGang(step, roleOf(step, { role: position })),
  );
}
