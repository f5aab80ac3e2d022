import type { TaskId } from "../task.ts";

/**
 * What the names of a task's log files begin with where its container has had another task before: each task's files are its own, in the
 * one log folder of the container. No colon: Hadoop's paths take what stands before it for a scheme.
 */
export function logPrefixOf(task: TaskId): string {
  return `${task.replace(":", "-")}.`;
}
