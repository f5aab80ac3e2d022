import { isSpecOut, wasSpecOut } from "../state/gang-moves.ts";
import { askedOf, gangOf, type Step } from "../state/step.ts";

type OfRole = { readonly role: number };

/**
 * What starts again when the task fails. Tasks that each start when they can have no gang to restart; those that run on after their gang
 * is done have none any more.
 */
export function restartPolicyOf(step: Pick<Step, "spec" | "state">, task: OfRole): "gang" | "task" | "none" {
  const { restartPolicy } = askedOf(step, task);
  const hasGang = step.spec.distributedMode === "gang" && gangOf(step, task).phase !== "done";
  return restartPolicy === "gang" && !hasGang ? "task" : restartPolicy;
}

/** Whether the task restarts with its gang; other tasks start with the first gang and are on their own from then on. */
export function restartsWithGang(step: Pick<Step, "spec" | "state">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "gang";
}

/** Whether the job cannot do without the task once it has failed. */
export function isNeverRestarted(step: Pick<Step, "spec" | "state">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "none";
}

type View = Pick<Step, "spec" | "state">;
type OfTask = { readonly role: number; readonly index: number };

/** Whether tasks of a role join their gang when they can: the program in each adapts to the tasks present. */
export function isElastic(step: View, task: { readonly role: number }): boolean {
  return askedOf(step, task).minInstances !== undefined && restartsWithGang(step, task);
}

/**
 * Whether the task starts by itself in a running gang, and the others go on when its container is lost. Not so for the first task, at
 * which the others meet.
 */
export function joinsLate(step: View, task: OfTask): boolean {
  const { phase } = gangOf(step, task);
  return phase === "running" && isElastic(step, task) && task.index > 0 && !isShareDone(step, task);
}

/** Whether the whole gang starts again when the task's container is lost or given up. */
export function takesGangAlong(step: View, task: OfTask): boolean {
  return restartsWithGang(step, task) && !joinsLate(step, task);
}

/** Whether a task of the role has exited with 0: what they compute together is done, and no task joins them any more. */
export function isShareDone({ state }: View, task: { readonly role: number }): boolean {
  return (state.roles[task.role]?.counts.succeeded ?? 0) > 0;
}

/**
 * Whether the task starts together with others, by one cluster spec: with all of its gang before the first start, later with those that
 * restart together. Any other task starts as soon as it is ready, as does one of an elastic role that was missing when its gang started.
 */
export function startsWithGang(step: Pick<Step, "spec" | "state">, task: { readonly role: number }): boolean {
  const isFirst = step.spec.distributedMode === "gang" && !wasSpecOut(gangOf(step, task));
  return isFirst || (restartsWithGang(step, task) && !isLate(step, task));
}

function isLate(step: Pick<Step, "spec" | "state">, task: { readonly role: number }): boolean {
  return isSpecOut(gangOf(step, task)) && isElastic(step, task);
}
