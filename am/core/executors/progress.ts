import { stopWords } from "../../../src/job/reasons/stops.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { checkpointSaved, sharedCheckpoint } from "../containers/checkpoints.ts";
import { isHeard } from "../containers/containers.ts";
import { hungEnding } from "../failures/endings.ts";
import { containerGone } from "../failures/losses.ts";
import { trialReported } from "../gang/trial-stops.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitNoMore, awaitOf } from "../state/deadlines.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { about, containerOf, emit, findTask, gangOf, log, type Step } from "../state/step.ts";
import { departSaved } from "./departures.ts";
import { askPlaces } from "./places.ts";

/**
 * A program reports its progress. An executor repeats its last report on each new stream, and reports a checkpoint that it has moved
 * to permanent storage when the program that saved it may already have ended.
 */
export function childProgress(step: Step, event: Extract<Event, { type: "child-progress" }>): void {
  const task = findTask(step, event.task);
  if (task === undefined) {
    return;
  }
  const isPresentLife = task.containerId === event.containerId && task.generation === event.generation;
  const { checkpoint } = event;
  const isNews = event.step !== task.step || (checkpoint !== undefined && checkpoint.step !== task.checkpointStep);
  if (checkpoint !== undefined) {
    const before = sharedCheckpoint(step, task);
    checkpointSaved(step, task, checkpoint, isPresentLife);
    if (sharedCheckpoint(step, task) !== before) {
      departSaved(step, gangOf(step, task), task);
    }
  }
  if (!isPresentLife) {
    return;
  }
  task.step = event.step;
  if (event.metrics !== undefined) {
    task.metrics = Object.fromEntries(Object.entries(event.metrics).filter(([, value]) => Number.isFinite(value)));
    trialReported(step, task, event);
  }
  step.changed = true;
  const container = containerOf(step, task);
  if (container !== undefined && (isNews || container.deadlines.progress === undefined)) {
    watchProgress(step, container);
  }
}

/** From its first report on, a program owes the next one in time. */
function watchProgress(step: Step, container: ContainerRecord): void {
  const { progressMs } = step.spec.timeouts;
  if (progressMs !== undefined) {
    awaitOf(step, container, "progress", progressMs);
  }
}

/**
 * Its executor is back: the program gets the whole time for its next report again. While the stream was broken nobody heard its
 * progress, and an order to end it may have been lost.
 */
export function renewProgress(step: Step, container: ContainerRecord): void {
  if (container.deadlines.progress !== undefined || container.deadlines["hang-stop"] !== undefined) {
    awaitNoMore(container, "hang-stop");
    watchProgress(step, container);
  }
}

/** No progress in time: its executor has it write where it stands, and ends it; the exit says that it hung. */
export function progressOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  if (!isHeard(container)) {
    watchProgress(step, container);
    return;
  }
  askPlaces(step, task);
  const reason = { code: "hung", noProgressMs: step.spec.timeouts.progressMs ?? 0, step: task.step } as const;
  const graceMs = step.spec.timeouts.stopGraceMs;
  log(step, "warn", "task-hung", `${task.id} is stopped, it ${stopWords(reason)}.`, about(task));
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "stop-child", generation: task.generation, graceMs, reason, dumpStacks: true },
  });
  awaitOf(step, container, "hang-stop", Bounds.stackDumpMs + stopWithinMs(step.spec.timeouts));
}

/** Its executor did not end it either. */
export function hangStopOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  containerGone(step, container, hungEnding(step, task, container), "its program hangs and could not be stopped");
}
