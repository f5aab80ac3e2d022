import { gangOf, roleOf, type Step } from "../state/step.ts";

type OfRole = { readonly role: number };

/**
 * What starts again when the task fails. Tasks that start each when they can have no gang to restart, and those that run on after their
 * gang is done have none any more.
 */
export function restartPolicyOf(step: Pick<Step, "spec" | "state">, task: OfRole): "gang" | "task" | "none" {
  const { restartPolicy } = roleOf(step, task);
  const hasGang = step.spec.distributedMode === "gang" && gangOf(step, task).phase !== "done";
  return restartPolicy === "gang" && !hasGang ? "task" : restartPolicy;
}

/** Whether the task's restart is the gang's; the others start with the first gang and are then on their own. */
export function restartsWithGang(step: Pick<Step, "spec" | "state">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "gang";
}

/** A task that the job cannot do without, once it has failed. */
export function isNeverRestarted(step: Pick<Step, "spec" | "state">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "none";
}
