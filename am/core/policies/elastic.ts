import { gangOf, roleOf, type Step } from "../state/step.ts";
import { restartsWithGang } from "./restart.ts";

type View = Pick<Step, "spec" | "state">;
type OfTask = { readonly role: number; readonly index: number };

/** Whether tasks of a role join its gang when they can: the program on each adapts to who is there. */
export function isElastic(step: View, task: { readonly role: number }): boolean {
  return roleOf(step, task).minInstances !== undefined && restartsWithGang(step, task);
}

/**
 * Whether the task starts by itself in a gang that runs, and the others go on when its container is lost. Not so the first one, where they
 * meet.
 */
export function joinsLate(step: View, task: OfTask): boolean {
  const { phase } = gangOf(step, task);
  return phase === "running" && isElastic(step, task) && task.index > 0 && !isShareDone(step, task);
}

/** Whether its whole gang starts again when its container is lost or given up. */
export function takesGangAlong(step: View, task: OfTask): boolean {
  return restartsWithGang(step, task) && !joinsLate(step, task);
}

/** Whether a task of the role has exited 0: what they compute together is done, and nobody joins them any more. */
export function isShareDone({ state }: View, task: { readonly role: number }): boolean {
  return (state.roles[task.role]?.counts.succeeded ?? 0) > 0;
}
