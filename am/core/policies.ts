import { exhaustedWords, isExhausted } from "./blame.ts";
import { budgetWords } from "./budgets.ts";
import type { Ending, TaskRecord } from "./state.ts";
import { findTask, roleOf, type Step } from "./step.ts";
import { keyWords } from "./words.ts";

/** What is replaced when the task fails. Tasks that start each when they can have no gang to restart. */
export function policyOf(step: Step, task: TaskRecord): "gang" | "task" | "none" {
  const { restartPolicy } = roleOf(step, task);
  return restartPolicy === "gang" && step.spec.distributedMode === "fcfs" ? "task" : restartPolicy;
}

/** A failure that ends nothing: tolerance was set, and no chief is concerned. */
export function toleratesFailure(step: Step, task: TaskRecord): boolean {
  const role = roleOf(step, task);
  const isChief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  const tolerated = step.spec.failure.onWorkerFailure === "tolerate" && role.tracking === "tracked" && !isChief;
  return (tolerated && !role.stopOnFailure) || role.tracking === "sidecar";
}

/** No restart can follow, whatever budget is left. */
export function isFinal(step: Step, root: Ending): boolean {
  const task = findTask(step, root.task);
  if (task === undefined) {
    return false;
  }
  return finalRule(step, task, root) !== undefined;
}

/** In words, the rule by which no restart follows whatever budget is left. */
function finalRule(step: Step, task: TaskRecord, root: Ending): string | undefined {
  const role = roleOf(step, task);
  if (role.stopOnFailure && root.class === "program") {
    return `a failure of ${role.name} ends the job: ${keyWords(step, "tony.application.stop-on-failure-jobtypes")}`;
  }
  if (root.machine && isExhausted(step, task)) {
    return exhaustedWords(step, task);
  }
  if (policyOf(step, task) === "none") {
    return `${role.name} is not restarted: ${keyWords(step, `tony.${role.name}.restart-policy`)}`;
  }
  return undefined;
}

/** Why the job cannot go on after this root cause. */
export function endingRule(step: Step, root: Ending): string {
  const task = findTask(step, root.task);
  const final = task === undefined ? undefined : finalRule(step, task, root);
  return final ?? budgetWords(step, root.class);
}
