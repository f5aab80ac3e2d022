import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import type { Ending, TaskRecord } from "../state/state.ts";
import { findTask, roleOf, type Step } from "../state/step.ts";
import { exhaustedRule, isExhausted } from "./blame.ts";
import { spentRule } from "./budgets.ts";
import { repeatedStartFailure } from "./start-failure.ts";

/** What is replaced when the task fails. Tasks that start each when they can have no gang to restart. */
export function policyOf(step: Step, task: TaskRecord): "gang" | "task" | "none" {
  const { restartPolicy } = roleOf(step, task);
  return restartPolicy === "gang" && step.spec.distributedMode === "fcfs" ? "task" : restartPolicy;
}

/** Nothing of a sidecar ends the job or restarts the gang. */
export function isSidecar(step: Step, task: TaskRecord): boolean {
  return roleOf(step, task).tracking === "sidecar";
}

/** A failure that ends nothing: tolerance was set, and no chief is concerned. */
export function toleratesFailure(step: Step, task: TaskRecord): boolean {
  const role = roleOf(step, task);
  const isChief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  const tolerated = step.spec.failure.onWorkerFailure === "tolerate" && role.tracking === "tracked" && !isChief;
  return (tolerated && !role.stopOnFailure) || isSidecar(step, task);
}

/** No restart can follow, whatever budget is left. */
export function isFinal(step: Step, root: Ending, neverRestarted = ""): boolean {
  return finalRule(step, root, neverRestarted) !== undefined;
}

/**
 * The rule by which no restart follows whatever budget is left: of the root, or of the task that failed with it and is never
 * restarted.
 */
function finalRule(step: Step, root: Ending, neverRestarted: string): RuleReason | undefined {
  const lost = findTask(step, neverRestarted);
  return ruleOfRoot(step, root) ?? (lost && neverRestartedRule(step, lost));
}

function ruleOfRoot(step: Step, root: Ending): RuleReason | undefined {
  const task = findTask(step, root.task);
  if (task === undefined) {
    return undefined;
  }
  const role = roleOf(step, task);
  if (role.stopOnFailure && root.class === "program") {
    const setting = settingOf(step.spec, "tony.application.stop-on-failure-jobtypes");
    return { code: "role-must-not-fail", role: role.name, setting };
  }
  if (isExhausted(step, task, root)) {
    return exhaustedRule(step, task, root);
  }
  return isNeverRestarted(step, task) ? neverRestartedRule(step, task) : repeatedStartFailure(step, root);
}

/** A task that the job cannot do without, once it has failed. */
export function isNeverRestarted(step: Step, task: TaskRecord): boolean {
  return policyOf(step, task) === "none";
}

function neverRestartedRule(step: Step, task: TaskRecord): RuleReason {
  const { name } = roleOf(step, task);
  return { code: "never-restarted", role: name, setting: settingOf(step.spec, `tony.${name}.restart-policy`) };
}

/** Why the job cannot go on after this root cause. */
export function endingRule(step: Step, root: Ending, neverRestarted: string): RuleReason {
  return finalRule(step, root, neverRestarted) ?? spentRule(step, root.class);
}
