import type { TaskPhase, TaskRecord } from "./records.ts";
import type { Step } from "./step.ts";

/** Phases in which a task's program is not yet started in this life. */
export const BEFORE_START: readonly TaskPhase[] = ["waiting", "allocated", "launched", "preparing", "registered"];
/** Phases in which a program may be running. */
export const ALIVE: readonly TaskPhase[] = ["starting", "running", "stopping"];
/** Phases in which this life is over. */
export const AFTER_END: readonly TaskPhase[] = ["succeeded", "failed", "stopped", "lost"];

/**
 * The one way a task changes its phase. Nothing happens, and the answer is false, when the task is in none of the phases it may come
 * from: what arrives late or twice then changes nothing.
 */
export function moveTask(step: Step, task: TaskRecord, from: readonly TaskPhase[], to: TaskPhase): boolean {
  if (!from.includes(task.phase)) {
    return false;
  }
  const role = step.state.roles[task.role];
  if (role === undefined) {
    throw new RangeError(`no role at position ${task.role}`);
  }
  role.counts[task.phase]--;
  role.counts[to]++;
  task.phase = to;
  if (to === "waiting") {
    role.firstWaiting = Math.min(role.firstWaiting, task.index);
  }
  step.changed = true;
  return true;
}
