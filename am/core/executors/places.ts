import { isSidecar } from "../policies/completion.ts";
import { isOfTasks } from "../policies/trials.ts";
import type { Event } from "../state/events.ts";
import type { TaskRecord } from "../state/records.ts";
import { containerOf, emit, findTask, gangOf, roleOf, type Step, tasksOf } from "../state/step.ts";

/**
 * A task's program makes no progress: asks where each program of its gang stands. Nobody is asked if another task has gone on meanwhile:
 * then nothing holds them all up.
 */
export function askPlaces(step: Step, hung: TaskRecord): void {
  // The other trials of a search are independent of it.
  if (hung.place?.generation === hung.generation || isOfTasks(step)) {
    return;
  }
  const peers = tasksOf(step, gangOf(step, hung)).filter((task) => task.phase === "running" && isPeer(step, task));
  if (peers.length < 2 || peers.some((task) => task !== hung && goesOn(step, task))) {
    return;
  }
  for (const task of peers) {
    const { id, containerId, generation } = task;
    task.place = { generation, where: "", isExchange: false, lines: [] };
    emit(step, { type: "send", to: { task: id, containerId }, message: { type: "tell-place", generation } });
  }
}

export function childPlace(step: Step, event: Extract<Event, { type: "child-place" }>): void {
  const task = findTask(step, event.task);
  const { containerId, generation, where, isExchange, lines } = event;
  if (task?.place === undefined) {
    return;
  }
  if (task.containerId === containerId && task.generation === generation && task.place.generation === generation) {
    task.place = { generation, where, isExchange, lines };
  }
}

/** Whether it trains with the others. */
function isPeer(step: Step, task: TaskRecord): boolean {
  return !isSidecar(step, task) && roleOf(step, task).tracking === "tracked";
}

/** Whether it has reported a step in the last half of the time in which one is due. */
function goesOn(step: Step, task: TaskRecord): boolean {
  const since = containerOf(step, task)?.deadlines.progress?.sinceMs;
  const { progressMs = 0 } = step.spec.timeouts;
  return since !== undefined && step.nowMs - since < progressMs / 2;
}
