import { propose } from "../../../src/job/search/propose.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import { leadOfTrial } from "../../../src/job/search/trial-tasks.ts";
import {
  awaitsResults,
  begun,
  hasRoom,
  isLeaving,
  isOfTasks,
  pausingIn,
  promotable,
  trialOf,
  trialToPropose,
} from "../policies/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import { findTask, gangOf, log, noteDurable, type Step } from "../state/step.ts";
import { nextGeneration, renewTask } from "./generation.ts";
import { resumeTrial } from "./restart.ts";

/**
 * Gives parameters to trials that have a container, or might have one. A trial keeps its parameters: the journal holds them before the trial
 * starts. Tasks are handled in their order, so that a trial's number is its task's.
 */
export function chooseParameters(step: Step): void {
  if (!isOfTasks(step)) {
    return;
  }
  const isAhead = awaitsResults(step.spec);
  for (const task of step.state.tasks) {
    if ((isAhead || task.containerId !== "") && !hasParameters(step, task)) {
      return;
    }
  }
}

/**
 * Optuna has proposed a trial. The journal holds it before it starts, so that a later attempt need not ask again; a proposal that is not asked
 * for now is ignored.
 */
export function trialProposed(step: Step, { number, params }: { number: number; params: Parameters }): void {
  const task = trialToPropose(step) === number ? findTask(step, leadOfTrial(step.spec, number)) : undefined;
  if (task !== undefined) {
    hasParameters(step, task, params);
    step.changed = true;
  }
}

/**
 * Whether a trial has parameters. A trial without any is given some, but not before the trials that they depend on have ended, or Optuna has
 * proposed them.
 */
export function hasParameters(step: Step, task: TaskRecord, proposed?: Parameters): boolean {
  const { search } = step.spec;
  if (search === undefined || task.trialParameters !== undefined) {
    return true;
  }
  const proposal = propose({ ...search, maxTrials: Number.POSITIVE_INFINITY }, begun(step).map(trialOf), proposed);
  if ("none" in proposal && proposal.none === "waits") {
    return false;
  }
  task.trialParameters = "params" in proposal ? proposal.params : {};
  noteDurable(step);
  return true;
}

/** Paused trials among the best go on before others begin, as many as there is room for. */
export function promoteTrials(step: Step): void {
  const mayGoOn = step.state.phase === "under-way" && step.state.outcome === undefined && pausingIn(step) !== undefined;
  while (mayGoOn && hasRoom(step) && promoteTrial(step)) {
    // One more.
  }
}

/** @returns whether one goes on: from its checkpoint, in any container */
export function promoteTrial(step: Step): boolean {
  const task = promotable(step);
  if (task === undefined || isLeaving(step, task)) {
    return false;
  }
  const why = task.trialPause ?? "";
  task.trialRung = (task.trialRung ?? 0) + 1;
  delete task.trialPause;
  const reason = "it paused at a rung, and is among the best there";
  const gang = step.spec.trials === undefined ? undefined : gangOf(step, task);
  if (gang !== undefined) {
    task.trialOver = false;
    resumeTrial(step, gang, reason);
  }
  const generation = gang?.generation ?? nextGeneration(step);
  log(step, "info", "trial-promoted", `${task.id} goes on: ${why}, and it is one of them.`, {
    task: task.id,
    generation,
  });
  if (gang === undefined) {
    task.restartReason = reason;
    renewTask(step, task, generation);
  }
  return true;
}
