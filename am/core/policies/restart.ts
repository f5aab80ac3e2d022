import { roleOf, type Step } from "../state/step.ts";

type OfRole = { readonly role: number };

/** What starts again when the task fails. Tasks that start each when they can have no gang to restart. */
export function restartPolicyOf(step: Pick<Step, "spec">, task: OfRole): "gang" | "task" | "none" {
  const { restartPolicy } = roleOf(step, task);
  return restartPolicy === "gang" && step.spec.distributedMode === "fcfs" ? "task" : restartPolicy;
}

/** Whether the task's restart is the gang's; the others start with the first gang and are then on their own. */
export function restartsWithGang(step: Pick<Step, "spec">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "gang";
}

/** A task that the job cannot do without, once it has failed. */
export function isNeverRestarted(step: Pick<Step, "spec">, task: OfRole): boolean {
  return restartPolicyOf(step, task) === "none";
}
