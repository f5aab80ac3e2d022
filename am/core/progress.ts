import type { Checkpoint } from "../../src/job/status.ts";
import { hungEnding, hungReason } from "./endings.ts";
import type { Event } from "./events.ts";
import { containerGone } from "./losses.ts";
import type { ContainerRecord, TaskRecord } from "./state.ts";
import { about, emit, findTask, log, record, type Step } from "./step.ts";
import { Bounds, clearTimer, hasOrder, setOrder } from "./timers.ts";

/** A program says how far it is. An executor repeats its last report when its stream was opened anew. */
export function childProgress(step: Step, event: Extract<Event, { type: "child-progress" }>): void {
  const task = findTask(step, event.task);
  if (task?.containerId !== event.containerId || task.generation !== event.generation) {
    return;
  }
  const { checkpoint } = event;
  const isNews = event.step !== task.step || (checkpoint !== undefined && checkpoint.step !== task.checkpointStep);
  task.step = event.step;
  step.changed = true;
  if (checkpoint !== undefined) {
    checkpointSaved(step, task, checkpoint);
  }
  if (isNews || !hasOrder(step, "progress", task.containerId)) {
    watchProgress(step, task);
  }
}

/** The furthest complete checkpoint is what a later generation goes on from; where several tasks save at one step, the last of them. */
function checkpointSaved(step: Step, task: TaskRecord, saved: Checkpoint): void {
  const { state } = step;
  const known = state.checkpoint;
  task.checkpointStep = saved.step;
  if (known !== undefined && !isFurther(saved, known)) {
    return;
  }
  state.checkpoint = saved;
  state.journal.dirty = true;
  record(step, "checkpoint", task, { path: saved.path, step: saved.step });
}

function isFurther(saved: Checkpoint, known: Checkpoint): boolean {
  return saved.step > known.step || (saved.step === known.step && saved.path !== known.path && saved.atMs > known.atMs);
}

/** From its first report on a program owes the next one in time. */
function watchProgress(step: Step, task: TaskRecord): void {
  const { progressMs } = step.spec.timeouts;
  if (progressMs !== undefined) {
    setOrder(step, "progress", task.containerId, progressMs);
  }
}

/** A program that starts owes nothing yet, whatever the one before it in this container did. */
export function forgetProgress(step: Step, containerId: string): void {
  for (const order of ["progress", "hung"] as const) {
    if (hasOrder(step, order, containerId)) {
      clearTimer(step, `${order}:${containerId}`);
    }
  }
}

/** No progress in time: its executor has it write where it stands, and ends it; the exit says that it hung. */
export function progressExpired(step: Step, container: ContainerRecord, task: TaskRecord): void {
  if (container.link !== "up") {
    watchProgress(step, task);
    return;
  }
  const reason = hungReason(step, task);
  const graceMs = step.spec.timeouts.stopGraceMs;
  log(step, "warn", "task-hung", `${task.id} is stopped, it ${reason}.`, about(task));
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "stop-child", generation: task.generation, graceMs, reason, dumpStacks: true },
  });
  setOrder(step, "hung", container.id, Bounds.stackDumpMs + graceMs + Bounds.stopMarginMs);
}

/** Neither did its executor end it. */
export function hungExpired(step: Step, container: ContainerRecord, task: TaskRecord): void {
  containerGone(step, container, hungEnding(step, task, container), "its program hangs and could not be stopped");
}
