import { arrayOf, count, object, type Shape, string } from "../job/shape.ts";
import { parseTaskId } from "../job/task.ts";

/** One life of a task: its container, and its number, which is higher than that of any earlier life. */
export interface TaskLife {
  readonly applicationId: string;
  /** `worker:0` */
  readonly task: string;
  readonly containerId: string;
  readonly generation: number;
}

interface TasksOfSnapshot {
  readonly applicationId: string;
  readonly tasks: readonly { readonly id: string; readonly containerId: string; readonly generation: number }[];
  /** Tasks that have ended for good: a role, and the first and last index. */
  readonly over?: readonly (readonly unknown[])[];
}

/** The part of a snapshot that an executor reads. */
const tasksOfSnapshot: Shape<TasksOfSnapshot> = object({
  required: {
    applicationId: string,
    tasks: arrayOf(object({ required: { id: string, containerId: string, generation: count }, optional: {} })),
  },
  optional: { over: arrayOf(arrayOf((value) => value)) },
});

/**
 * Whether a snapshot of the job says that the task has a later life in another container, or has ended for good. An older snapshot never
 * says so, since it knows no later life; nor does one with a later life in the same container, of which the ApplicationMaster informs the
 * executor.
 * Throws a ShapeError if it is not a snapshot.
 */
export function isReplaced(snapshot: unknown, life: TaskLife): boolean {
  const { applicationId, tasks, over = [] } = tasksOfSnapshot(snapshot, "");
  const task = tasks.find(({ id }) => id === life.task);
  const { role, index = -1 } = parseTaskId(life.task) ?? {};
  const isOver = over.some(([name, from, to]) => name === role && Number(from) <= index && index <= Number(to));
  if (applicationId === life.applicationId && isOver) return true;
  if (applicationId !== life.applicationId || task === undefined) return false;
  return task.generation > life.generation && task.containerId !== life.containerId;
}
