import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { isNeverRestarted } from "../policies/restart.ts";
import { toleratesFailure } from "../policies/tolerance.ts";
import type { Ending, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord } from "../state/records.ts";
import { findTask, roleOf, type Step } from "../state/step.ts";
import { exhaustedRule, isExhausted } from "./blame.ts";
import { spentRule } from "./budgets.ts";
import { repeatedStartFailure } from "./start-failure.ts";
import { isCounted } from "./strength.ts";

/** How tasks of one generation ended, by task. */
type Endings = Verdict["endings"];

/** No restart can follow, whatever budget is left. */
export function isFinal(step: Step, gang: GangState, root: Ending, endings: Endings = {}): boolean {
  return finalRule(step, gang, root, endings) !== undefined;
}

/** The job cannot go on once the task has failed. */
export function cannotBeLost(step: Step, task: TaskRecord): boolean {
  return isNeverRestarted(step, task) && !toleratesFailure(step, task);
}

/** Whether the job ends with this failure, whoever else is done: that of a role which `stop-on-failure-jobtypes` names. */
export function mustNotFail(step: Step, task: TaskRecord, ending: Ending): boolean {
  return roleOf(step, task).stopOnFailure && ending.class === "program" && isCounted(ending);
}

/**
 * The rule by which no restart follows whatever budget is left: of the root, or of the task that failed with it and is never
 * restarted.
 */
function finalRule(step: Step, gang: GangState, root: Ending, endings: Endings): RuleReason | undefined {
  const rule = ruleOfRoot(step, gang, root);
  if (rule !== undefined) {
    return rule;
  }
  const lost = lostAmong(step, endings);
  return lost && neverRestartedRule(step, lost);
}

/** The last task among those that ended without which the job cannot go on. */
function lostAmong(step: Step, endings: Endings): TaskRecord | undefined {
  // Few jobs have such a role; the endings of a large generation are not gone through for each that is added.
  if (!step.spec.roles.some(({ restartPolicy }) => restartPolicy === "none")) {
    return undefined;
  }
  return Object.values(endings)
    .filter(isCounted)
    .flatMap(({ task }) => findTask(step, task) ?? [])
    .findLast((task) => cannotBeLost(step, task));
}

function ruleOfRoot(step: Step, gang: GangState, root: Ending): RuleReason | undefined {
  const task = findTask(step, root.task);
  if (task === undefined) {
    return undefined;
  }
  const role = roleOf(step, task);
  if (mustNotFail(step, task, root)) {
    const setting = settingOf(step.spec, "tony.application.stop-on-failure-jobtypes");
    return { code: "role-must-not-fail", role: role.name, setting };
  }
  if (isExhausted(step, task, root)) {
    return exhaustedRule(step, task, root);
  }
  return isNeverRestarted(step, task) ? neverRestartedRule(step, task) : repeatedStartFailure(gang, root);
}

function neverRestartedRule(step: Step, task: TaskRecord): RuleReason {
  const { name } = roleOf(step, task);
  return { code: "never-restarted", role: name, setting: settingOf(step.spec, `tony.${name}.restart-policy`) };
}

/** Why the job cannot go on after this root cause. */
export function endingRule(step: Step, gang: GangState, root: Ending, endings: Endings): RuleReason {
  return finalRule(step, gang, root, endings) ?? spentRule(step, gang, root.class);
}
