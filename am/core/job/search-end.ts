import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import { settingOf } from "../../../src/job/reasons/words.ts";
import { spokenNameIn } from "../../../src/job/search/trial-tasks.ts";
import { compareValues, countStates, hasValue } from "../../../src/job/search/trials.ts";
import { lastLineBeside, valueWords } from "../../../src/job/search/words.ts";
import { begun, retriesOf, trialOf } from "../policies/trials.ts";
import type { Event } from "../state/events.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { isUnderWay } from "./begin.ts";
import { finish } from "./finish.ts";

type ProposalsFailed = Extract<Event, { type: "proposals-failed" }>;

/** A search ends when a trial has ended with a value that is good enough. */
export function finishAtGoal(step: Step): void {
  const { search } = step.spec;
  if (search?.goal === undefined) {
    return;
  }
  const { goal, metric, direction } = search;
  for (const task of begun(step)) {
    const { state, value } = trialOf(task);
    if (state !== "running" && state !== "failed" && compareValues(direction, value, goal) <= 0) {
      const setting = settingOf(step.spec, "tony.search.goal");
      const reached = { task: task.id, metric, value: valueWords(value), goal, setting };
      finish(step, endedBecause("succeeded", { code: "goal-reached", ...reached }));
      return;
    }
  }
}

/** Optuna was asked again and again. Another algorithm is not what the job asks for: choosing one is up to its owner. */
export function proposalsFailed(step: Step, { problem, hasRun }: ProposalsFailed): void {
  const { optunaPython: python = "" } = step.spec.search ?? {};
  finish(step, endedBecause("failed", { code: hasRun ? "optuna-failed" : "optuna-not-started", python, problem }));
}

/** How a search ends whose trials have all ended: if none completed, it has failed. */
export function searchSummary(step: Step): Undated {
  const tasks = begun(step);
  const { running: _, paused, ...counts } = countStates(tasks.map(trialOf));
  const again = tasks.reduce((sum, task) => sum + task.restarts - retriesOf(step, task), 0);
  return endedBecause(counts.completed > 0 ? "succeeded" : "failed", {
    ...{ code: "trials-ended", ...counts, again },
    ...(paused > 0 && { paused }),
    ...commonFailure(step, tasks),
  });
}

/** Why all of the trials failed, with what the first one printed last, where all failed in the same way. */
function commonFailure(step: Step, trials: readonly TaskRecord[]): { readonly why?: string } {
  const [trial] = trials;
  const [first, ...others] = trials.map(({ trialFailure }) => trialFailure);
  if (trial === undefined || first?.kind === undefined || others.some((other) => other?.kind !== first.kind)) return {};
  const words = first.words.replace(trial.id, spokenNameIn(step.spec, trial.id));
  const last = lastLineBeside(words, first.lines);
  return { why: last === undefined ? words : `${words}: ${last.trim()}` };
}

/** When a search has taken as long as it may, counted from the first attempt's start. */
export function searchDueMs({ spec, state }: Step): number | undefined {
  const timeoutMs = spec.search?.timeoutMs;
  return timeoutMs === undefined || !isUnderWay(state) ? undefined : state.startedAtMs + timeoutMs;
}

/** What the search has found by then counts, including values of trials that have not completed. */
export function searchOverdue(step: Step): void {
  const { search } = step.spec;
  const trials = begun(step).map(trialOf);
  const { completed } = countStates(trials);
  const hasFound = trials.some(({ state, value }) => state !== "failed" && hasValue(value));
  const setting = settingOf(step.spec, "tony.search.timeout");
  const limitMs = search?.timeoutMs ?? 0;
  const reason = { code: "search-time-over", limitMs, completed, setting } as const;
  finish(step, endedBecause(hasFound ? "succeeded" : "failed", reason));
}
