import { propose } from "../../../src/job/search/propose.ts";
import { awaitsResults, begun, hasRoom, pausingIn, promotable, trialOf } from "../policies/trials.ts";
import { log, noteDurable, type Step } from "../state/step.ts";
import { nextGeneration, renewTask } from "./generation.ts";

/**
 * Trials of a search that have a container, or might have one, are given their parameters, which they keep: the journal holds them before
 * they start. It goes by the order of the tasks, so that a trial's number is its task's.
 */
export function chooseParameters(step: Step): void {
  const { search } = step.spec;
  if (search === undefined) {
    return;
  }
  const isAhead = awaitsResults(step.spec);
  for (const task of step.state.tasks) {
    if (task.trialParameters === undefined && (isAhead || task.containerId !== "")) {
      const trials = begun(step).map(trialOf);
      const proposal = propose({ ...search, maxTrials: Number.POSITIVE_INFINITY }, trials);
      if ("none" in proposal && proposal.none === "waits") {
        return;
      }
      task.trialParameters = "params" in proposal ? proposal.params : {};
      noteDurable(step);
    }
  }
}

/** Paused trials that are among the best go on before others begin, as many as there is room for. */
export function promoteTrials(step: Step): void {
  const mayGoOn = step.state.phase === "under-way" && step.state.outcome === undefined && pausingIn(step) !== undefined;
  while (mayGoOn && hasRoom(step) && promoteTrial(step)) {
    // One more.
  }
}

/** @returns whether one goes on: from its checkpoint, in whatever container */
export function promoteTrial(step: Step): boolean {
  const task = promotable(step);
  if (task === undefined) {
    return false;
  }
  const why = task.trialPause ?? "";
  task.trialRung = (task.trialRung ?? 0) + 1;
  delete task.trialPause;
  task.restartReason = "it paused at a rung, and is among the best there";
  const generation = nextGeneration(step);
  log(step, "info", "trial-promoted", `${task.id} goes on: ${why}, and it is one of them.`, {
    task: task.id,
    generation,
  });
  renewTask(step, task, generation);
  return true;
}
