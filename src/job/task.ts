/** A task's name, `<role>:<index>`, as used for people, in logs and in messages. */
export type TaskId = string;

export interface TaskName {
  readonly role: string;
  readonly index: number;
}

/** A valid name of a role. */
export const ROLE_NAME = /^[a-z][a-z0-9-]*$/;
/** The same for people. */
export const ROLE_NAME_WORDS = "lower-case letters, digits and dashes, beginning with a letter";

const TASK_ID = /^([a-z][a-z0-9-]*):(0|[1-9][0-9]{0,8})$/;

export function formatTaskId(role: string, index: number): TaskId {
  return `${role}:${index}`;
}

/** Undefined when the text is not a task id. */
export function parseTaskId(text: string): TaskName | undefined {
  const [, role, index] = TASK_ID.exec(text) ?? [];
  return role === undefined || index === undefined ? undefined : { role, index: Number(index) };
}

/** `worker:0 to worker:2, worker:5, ps:0` */
export function taskSpans(tasks: readonly string[]): string {
  const spans: string[][] = [];
  for (const task of tasks) {
    const last = spans.at(-1);
    if (last !== undefined && task === following(last.at(-1) ?? "")) last.push(task);
    else spans.push([task]);
  }
  return spans.map((span) => (span.length < 3 ? span.join(", ") : `${span[0]} to ${span.at(-1)}`)).join(", ");
}

function following(task: string): string {
  const colon = task.lastIndexOf(":");
  return `${task.slice(0, colon)}:${Number(task.slice(colon + 1)) + 1}`;
}
