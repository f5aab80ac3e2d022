import { isOfTasks } from "../policies/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";
import { waiting } from "./barrier.ts";

/** The files beside the journal that trials which have ended are written to are so many at most. */
const MOST_PARTS = 64;

/** What a snapshot has of the tasks. */
export interface WrittenTasks {
  readonly tasks: readonly TaskRecord[];
  /** Where the others are that have ended: the sequences of their files. */
  readonly parts?: readonly number[];
  /** Those others, in runs of their role: its name, and the first and the last index. */
  readonly over?: readonly (readonly [role: string, from: number, to: number])[];
}

/**
 * What a snapshot has of the tasks, and what is written beside it for good. Of a search that has a task for each trial it leaves out those that
 * have ended for good, of which each is written once, and those that have not begun, which are all like the last that it has.
 */
export function tasksToWrite(
  step: Step,
  sequence: number,
): { readonly written: WrittenTasks; readonly part: readonly TaskRecord[] } {
  const { tasks, journal } = step.state;
  const { apart } = journal;
  if (!isOfTasks(step)) {
    return { written: { tasks }, part: [] };
  }
  const left = tasks.filter(({ id }) => apart[id] === undefined);
  const ended = left.filter((task) => isOverForGood(step, task));
  const part = ended.length < tasks.length / MOST_PARTS ? [] : ended;
  for (const { id } of part) {
    apart[id] = sequence;
  }
  const last = tasks.at(-1);
  const begun = left.findLastIndex((task) => last === undefined || !isLike(task, last));
  const there = left.slice(0, begun + 2).filter(({ id }) => apart[id] === undefined);
  const parts = [...new Set(Object.values(apart))];
  return { written: parts.length === 0 ? { tasks: there } : { tasks: there, parts, over: runsOf(step) }, part };
}

/** The tasks of a snapshot, and those that it left out. @param own as they are in a job of which nothing has happened */
export function allTasks(own: readonly TaskRecord[], { tasks }: WrittenTasks): TaskRecord[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const last = tasks.at(-1);
  return own.map((task) => byId.get(task.id) ?? { ...task, ...last, id: task.id, index: task.index });
}

/** The snapshot was not written: nor was what is beside it. */
export function forgetPart({ state }: Step, sequence: number): void {
  const { apart } = state.journal;
  for (const [id, written] of Object.entries(apart)) {
    if (written === sequence) {
      delete apart[id];
    }
  }
}

/** Nothing changes of it any more. */
function isOverForGood(step: Step, task: TaskRecord): boolean {
  const { phase, id, containerId, trialStop, trialPause, trialFailure } = task;
  const isDone = phase === "succeeded" || trialStop !== undefined || trialFailure !== undefined;
  return (
    AFTER_END.includes(phase) &&
    isDone &&
    trialPause === undefined &&
    step.state.containers[containerId] === undefined &&
    waiting(step, { what: "task-done", task: id }) === undefined
  );
}

/** Whether neither has begun. */
function isLike(task: TaskRecord, last: TaskRecord): boolean {
  const isAhead = ({ phase, trialParameters, host }: TaskRecord) =>
    phase === "waiting" && trialParameters === undefined && host === "";
  const isSame = task.generation === last.generation && task.waitingSinceMs === last.waitingSinceMs;
  return isAhead(task) && isAhead(last) && isSame && task.restarts === last.restarts;
}

function runsOf({ state, spec }: Step): [string, number, number][] {
  const runs: [string, number, number][] = [];
  const { name = "" } = spec.roles[0] ?? {};
  for (const { id, index } of state.tasks) {
    const run = runs.at(-1);
    if (state.journal.apart[id] === undefined) {
      continue;
    }
    if (run !== undefined && run[2] === index - 1) {
      run[2] = index;
    } else {
      runs.push([name, index, index]);
    }
  }
  return runs;
}
