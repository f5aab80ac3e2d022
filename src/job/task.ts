/** A task's name, `<role>:<index>`, as people, logs and messages write it. */
export type TaskId = string;

export interface TaskName {
  readonly role: string;
  readonly index: number;
}

/** What a role may be called. */
export const ROLE_NAME = /^[a-z][a-z0-9-]*$/;
/** The same for people. */
export const ROLE_NAME_WORDS = "lower-case letters, digits and dashes, beginning with a letter";

const TASK_ID = /^([a-z][a-z0-9-]*):(0|[1-9][0-9]{0,8})$/;

export function formatTaskId(role: string, index: number): TaskId {
  return `${role}:${index}`;
}

/** Undefined when the text is no task id. */
export function parseTaskId(text: string): TaskName | undefined {
  const [, role, index] = TASK_ID.exec(text) ?? [];
  return role === undefined || index === undefined ? undefined : { role, index: Number(index) };
}
