import type { RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { isNeverRestarted } from "../policies/restart.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord } from "../state/records.ts";
import { findTask, roleOf, type Step } from "../state/step.ts";
import { exhaustedRule, isExhausted } from "./blame.ts";
import { spentRule } from "./budgets.ts";
import { repeatedStartFailure } from "./start-failure.ts";

/** No restart can follow, whatever budget is left. */
export function isFinal(step: Step, gang: GangState, root: Ending, neverRestarted = ""): boolean {
  return finalRule(step, gang, root, neverRestarted) !== undefined;
}

/**
 * The rule by which no restart follows whatever budget is left: of the root, or of the task that failed with it and is never
 * restarted.
 */
function finalRule(step: Step, gang: GangState, root: Ending, neverRestarted: string): RuleReason | undefined {
  const lost = findTask(step, neverRestarted);
  return ruleOfRoot(step, gang, root) ?? (lost && neverRestartedRule(step, lost));
}

function ruleOfRoot(step: Step, gang: GangState, root: Ending): RuleReason | undefined {
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
  return isNeverRestarted(step, task) ? neverRestartedRule(step, task) : repeatedStartFailure(gang, root);
}

function neverRestartedRule(step: Step, task: TaskRecord): RuleReason {
  const { name } = roleOf(step, task);
  return { code: "never-restarted", role: name, setting: settingOf(step.spec, `tony.${name}.restart-policy`) };
}

/** Why the job cannot go on after this root cause. */
export function endingRule(step: Step, gang: GangState, root: Ending, neverRestarted: string): RuleReason {
  return finalRule(step, gang, root, neverRestarted) ?? spentRule(step, gang, root.class);
}
