import type { TaskRecord } from "../state/records.ts";
import { roleOf, type Step } from "../state/step.ts";

/** Nothing of a sidecar ends the job or restarts the gang. */
export function isSidecar(step: Pick<Step, "spec" | "state">, task: TaskRecord): boolean {
  return roleOf(step, task).tracking === "sidecar";
}

/** A failure that ends nothing: tolerance was set, and no chief is concerned. */
export function toleratesFailure(step: Pick<Step, "spec" | "state">, task: TaskRecord): boolean {
  const role = roleOf(step, task);
  const isChief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  const tolerated = step.spec.failure.onWorkerFailure === "tolerate" && role.tracking === "tracked" && !isChief;
  return (tolerated && !role.stopOnFailure) || isSidecar(step, task);
}
