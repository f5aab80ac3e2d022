import { trialCountWords } from "../search/words.ts";
import { type ReasonOf, reason } from "./reason.ts";
import { budgetWords, countWords, durationWords, listWords, memoryWords, placeWords, settingWords } from "./words.ts";

/** Rules that prevent a job from continuing after a failure. */
export const ruleReasons = {
  "budget-spent": reason(
    { class: "class", limit: "number", windowMs: "number?", role: "text?", setting: "setting" },
    ({ class: failureClass, limit, windowMs, role, setting: { key, at } }) => {
      const written = placeWords(at);
      const place = written === undefined ? "" : `, ${written}`;
      const more = { ...(windowMs === undefined ? {} : { windowMs }), ...(role === undefined ? {} : { role }) };
      return `${budgetWords(failureClass, { used: limit, limit, ...more })} (${key} = ${limit}${place})`;
    },
  ),
  "role-must-not-fail": reason(
    { role: "text", setting: "setting" },
    ({ role, setting }) => `a failure of ${role} ends the job: ${settingWords(setting)}`,
  ),
  "never-restarted": reason(
    { role: "text", setting: "setting" },
    ({ role, setting }) => `${role} is not restarted: ${settingWords(setting)}`,
  ),
  "machines-failed": reason({ task: "text", times: "number", setting: "setting" }, ({ task, times, setting }) => {
    const failed = times === 1 ? "a machine failed" : "machines failed";
    return `${failed} ${task}${inARow(times)}, which ends the job: ${settingWords(setting)}`;
  }),
  "launches-refused": reason(
    { task: "text", times: "number", setting: "setting" },
    ({ task, times, setting }) =>
      `${task} could not be launched${inARow(times)}, which ends the job: ${settingWords(setting)}`,
  ),
  "same-failure-at-start": reason(
    { generation: "number", before: "number" },
    ({ generation, before }) =>
      `generations ${before} and ${generation} failed the same way at start, so no further restart is tried`,
  ),
  "trials-failed": reason(
    { trials: "number", inARow: "flag", setting: "setting" },
    ({ trials, inARow, setting }) =>
      `${countWords(trials, "trial")} failed${inARow ? " in a row" : ""}, which ends the search: ${settingWords(setting)}`,
  ),
  "trials-failed-alike": reason(
    { trials: "number" },
    ({ trials }) => `the first ${trials} trials failed the same way, so no further one is tried`,
  ),
  "file-at-fault": reason(
    { firstHost: "text" },
    ({ firstHost }) => `${firstHost} failed on the same file before: the file is at fault, not the nodes`,
  ),
};

const searchGoesOn = "tony-ts search --resume continues the search, with any tony.search.algorithm";

/** Ends of a job that were not one task's failure. */
const plainReasons = {
  "tasks-ended": reason(
    { succeeded: "number", tasks: "number", onlyTracked: "flag" },
    ({ succeeded, tasks, onlyTracked }) =>
      `${succeeded} of ${countWords(tasks, onlyTracked ? "tracked task" : "task")} exited 0`,
  ),
  "trials-ended": reason(
    { completed: "number", stopped: "number", failed: "number", paused: "number?", again: "number", why: "text?" },
    ({ completed, stopped, failed, paused = 0, again, why }) => {
      const same = why === undefined ? "" : `${failed === 1 ? "" : " the same way"}: ${why}`;
      const rerun = again === 0 ? "" : `; ${againWords(again)} after infrastructure failures`;
      return `${countWords(completed + stopped + failed + paused, "trial")}: ${trialCountWords({ completed, stopped, failed, paused })}${same}${rerun}`;
    },
  ),
  "not-stored": reason(
    { task: "text", what: "text", url: "text", why: "text", others: "number", setting: "setting" },
    ({ task, what, url, why, others, setting }) => {
      const more = others === 0 ? "" : `, and the same holds for ${countWords(others, "other")}`;
      return `${task}'s ${what} was not stored completely in ${url}: ${why}${more}. If the job may succeed without it, set ${setting.key} = false`;
    },
  ),
  "stop-requested": reason({ words: "text" }, ({ words }) => words),
  "goal-reached": reason(
    { task: "text", metric: "text", value: "text", goal: "number", setting: "setting" },
    ({ task, metric, value, goal, setting }) =>
      `${task} ended with ${metric} ${value}, which reaches the goal ${goal}: ${settingWords(setting)}`,
  ),
  "optuna-failed": reason(
    { python: "text", problem: "text" },
    ({ python, problem }) =>
      `Optuna could not be asked for the next trial: ${problem}. Install it for ${python} on the ApplicationMaster's node (pip install optuna), or set tony.search.optuna.python to a Python that has it; ${searchGoesOn}`,
  ),
  "optuna-not-started": reason(
    { python: "text", problem: "text" },
    ({ problem }) =>
      `Optuna could not be asked for the next trial: ${problem} on the ApplicationMaster's node. Set tony.search.optuna.python to a Python there that has Optuna; ${searchGoesOn}`,
  ),
  "search-time-over": reason(
    { limitMs: "number", completed: "number", setting: "setting" },
    ({ limitMs, completed, setting }) =>
      `the search ended after ${durationWords(limitMs)} with ${countWords(completed, "trial")} completed: ${settingWords(setting)}`,
  ),
  "job-too-long": reason(
    { limitMs: "number", setting: "setting" },
    ({ limitMs, setting }) => `the job ran longer than ${durationWords(limitMs)}: ${settingWords(setting)}`,
  ),
  "role-outlived-group": reason(
    { role: "text", group: "text", limitMs: "number", setting: "setting" },
    ({ role, group, limitMs, setting }) =>
      `${role} ran on for longer than ${durationWords(limitMs)} after group ${group} had ended: ${settingWords(setting)}`,
  ),
  "allocation-too-long": reason(
    { missing: "number", tasks: "number", limitMs: "number", setting: "setting", awaited: "names" },
    ({ missing, tasks, limitMs, setting, awaited }) => {
      const late = `${missing} of ${countWords(tasks, "task")} not registered within ${durationWords(limitMs)}: ${settingWords(setting)}`;
      return awaited.length === 0 ? late : `${late}; it still waited for ${awaited.join("; ")}`;
    },
  ),
  "registration-too-long": reason(
    { task: "text", host: "text", limitMs: "number", setting: "setting" },
    ({ task, host, limitMs, setting }) =>
      `${task} on ${host} did not register within ${durationWords(limitMs)}: ${settingWords(setting)}`,
  ),
  "ask-refused": reason({ message: "text" }, ({ message }) => message),
  "constraints-refused": reason(
    { settings: "settings", message: "text" },
    ({ settings, message }) =>
      `the cluster does not accept placement constraints: remove ${listWords(settings.map(settingWords))}, or have yarn.resourcemanager.placement-constraints.handler set to scheduler (CapacityScheduler). The ResourceManager says: ${message}`,
  ),
  "memory-beyond-cluster": reason(
    { setting: "setting", askedMiB: "number", mostMiB: "number" },
    ({ setting, askedMiB, mostMiB }) =>
      `${settingWords(setting)} asks for ${memoryWords(askedMiB)} a container; the cluster gives at most ${memoryWords(mostMiB)}`,
  ),
  "cores-beyond-cluster": reason(
    { setting: "setting", asked: "number", most: "number" },
    ({ setting, asked, most }) =>
      `${settingWords(setting)} asks for ${asked} a container; the cluster gives at most ${most}`,
  ),
  "resource-beyond-cluster": reason(
    { role: "text", type: "text", asked: "number", most: "number" },
    ({ role, type, asked, most }) =>
      `role ${role} asks for ${asked} of ${type} a container; the cluster gives at most ${most}`,
  ),
  "resource-unknown": reason(
    { role: "text", type: "text", asked: "number" },
    ({ role, type, asked }) =>
      `role ${role} asks for ${asked} of ${type}, a resource type that the cluster does not know`,
  ),
  "am-defect": reason(
    { error: "text" },
    ({ error }) => `The ApplicationMaster failed because of a bug of its own: ${error}`,
  ),
  "application-ended": reason(
    { state: "text", words: "text?" },
    ({ state, words }) => words ?? `the application is ${state}`,
  ),
};

/** Why a job ended: the rule that allowed no restart, if one task's failure is the cause; otherwise the whole reason. */
export const outcomeReasons = { ...ruleReasons, ...plainReasons };

export type RuleReason = ReasonOf<typeof ruleReasons>;
export type OutcomeReason = ReasonOf<typeof outcomeReasons>;

export function outcomeWords(outcome: OutcomeReason): string {
  return outcomeReasons[outcome.code].words(outcome);
}

function againWords(count: number): string {
  return count === 1 ? "1 was run again" : `${count} were run again`;
}

function inARow(times: number): string {
  return times === 1 ? "" : ` ${times} times in a row`;
}
