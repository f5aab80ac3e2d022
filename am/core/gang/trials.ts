import { propose } from "../../../src/job/search/propose.ts";
import { awaitsResults, begun, trialOf } from "../policies/trials.ts";
import { noteDurable, type Step } from "../state/step.ts";

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
