import { pausingIn, trialOf } from "../../am/core/policies/trials.ts";
import { rungOf } from "../../src/job/search/promotion.ts";
import { inTrial, leadOfTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { World } from "./world.ts";

/** Whether a rule of its search ended the job. */
export function isOfSearch({ reason }: JobOutcome): boolean {
  return ["goal-reached", "search-time-over", "trials-failed", "trials-failed-alike"].includes(reason.code);
}

/** Programs report NaN by themselves. */
export function isOfNaN(outcome: JobOutcome | undefined): boolean {
  return outcome?.cause?.reason?.code === "no-metric";
}

/** What ended the search really happened. */
export function judgeSearchEnd({ core, witness }: World, { reason, endedAtMs }: JobOutcome): string[] {
  const { search } = core.spec;
  const { tasks, startedAtMs } = core.state;
  switch (reason.code) {
    case "goal-reached":
      return witness.hasEnded(reason.task) ? [] : [`the search ended with ${reason.task}, which runs`];
    case "search-time-over":
      return endedAtMs >= startedAtMs + (search?.timeoutMs ?? Number.POSITIVE_INFINITY)
        ? []
        : [`the search ended after ${endedAtMs - startedAtMs} ms: its time was not over`];
    default: {
      const well = tasks.filter(
        ({ id, trialFailure, trialValue }) =>
          trialFailure?.kind !== undefined &&
          trialValue !== "NaN" &&
          witness.exitedWell(id) &&
          witness.toldAtMs(id) !== undefined,
      );
      return well.map(({ id }) => `${id} exited 0, and its search ended with its failure`);
    }
  }
}

/** How often a paused trial may have gone on. */
export function promotionsOf({ core }: World, task: string): number {
  const pausing = pausingIn(core);
  const name = parseTaskId(task);
  const { number } = name === undefined ? { number: -1 } : inTrial(core.spec, name);
  const lead = leadOfTrial(core.spec, number);
  const record = core.state.tasks.find(({ id }) => id === lead);
  return pausing === undefined || record === undefined
    ? 0
    : rungOf(pausing, trialOf(record), number) - rungOf(pausing, { params: {}, state: "running" }, number);
}
