import { begun, pausingIn, retriesOf, trialOf } from "../../am/core/policies/trials.ts";
import { roleOf } from "../../am/core/state/step.ts";
import { rungOf } from "../../src/job/search/promotion.ts";
import { inTrial, leadOfTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobSpec, Tracking } from "../../src/job/spec.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { Fault } from "./faults/fault.ts";
import { guesses } from "./judge-budgets.ts";
import type { Witness } from "./witness.ts";
import type { World } from "./world.ts";

/** Whether a rule of its search ended the job. */
export function isOfSearch({ reason }: JobOutcome): boolean {
  return ["goal-reached", "search-time-over", "trials-failed", "trials-failed-alike"].includes(reason.code);
}

/** Whether the job failed because trials had no metric: programs report NaN by themselves. */
export function isOfNaN(outcome: JobOutcome | undefined): boolean {
  return outcome?.cause?.reason?.code === "no-metric";
}

/** Checks that what is named as the search's end really happened. */
export function judgeSearchEnd({ core, witness }: World, { reason, endedAtMs }: JobOutcome): string[] {
  const { search } = core.spec;
  const { tasks, startedAtMs } = core.state;
  switch (reason.code) {
    case "goal-reached":
      // A trial that was told to pause has its value, wherever its program is by then.
      return witness.hasEnded(reason.task) || tasks.some(({ id, trialPause }) => id === reason.task && trialPause)
        ? []
        : [`the search ended with ${reason.task}, which runs`];
    case "search-time-over":
      return endedAtMs >= startedAtMs + (search?.timeoutMs ?? Number.POSITIVE_INFINITY)
        ? []
        : [`the search ended after ${endedAtMs - startedAtMs} ms: its time was not over`];
    default: {
      const failed = tasks.filter(
        ({ trialFailure, trialValue }) => trialFailure?.kind !== undefined && trialValue !== "NaN",
      );
      const well = failed.filter(({ id }) => endedWell(core, witness, numberOf(core.spec, id)));
      return well.map(({ id }) => `${id} exited 0, and its search ended with its failure`);
    }
  }
}

/** Whether all programs of a trial for which it waits exited 0, and no program that they needed was known to have failed before. */
function endedWell(core: World["core"], witness: Witness, trial: number): boolean {
  const ofTrial = core.state.tasks.filter(({ id }) => numberOf(core.spec, id) === trial);
  const ofKind = (kind: Tracking) => ofTrial.filter(({ role }) => roleOf(core, { role }).tracking === kind);
  const exits = ofKind("tracked").map(({ id }) => (witness.exitedWell(id) ? witness.toldAtMs(id) : undefined));
  const lastAtMs = Math.max(...exits.map((atMs) => atMs ?? Number.NaN));
  const hadFailed = (id: string) => !witness.exitedWell(id) && (witness.toldAtMs(id) ?? lastAtMs) < lastAtMs;
  return !Number.isNaN(lastAtMs) && !ofKind("untracked").some(({ id }) => hadFailed(id));
}

/**
 * Checks that each trial paid for what its own programs did, and for no more than it was allowed: one that failed by itself had used up its
 * restarts. Where all trials have ended, none was forgotten.
 */
export function judgeTrials(world: World, faults: readonly Fault[]): string[] {
  const { spec, core, outcome, witness } = world;
  const { search } = spec;
  if (search === undefined) return [];
  const allowed = guesses(world, faults);
  const trials = begun(core);
  const problems = trials.flatMap((task, number) => {
    const { id, trialFailure, phase } = task;
    const isGang = spec.trials !== undefined;
    const { charges = [] } = core.state.gangs[number] ?? {};
    // What was still being judged when the trial paused or ended is paid back.
    const retries = isGang ? charges.filter((charge) => charge.class === "program").length : retriesOf(core, task);
    if (task.restarts < retriesOf(core, task))
      return [`${id} was started again ${task.restarts} times, after more failures`];
    const hasFailed = trialFailure?.kind !== undefined && !trialFailure.kind.startsWith("no-metric ");
    // What ended a generation may become known when the trial has already started again, or only after something else has ended the trial
    // or its job: then there is one start too many, or one charge.
    const { generations = [], generation } = core.state.gangs[number] ?? {};
    const ofProgram = generations.filter(({ endedBy }) => endedBy?.class === "program");
    const isOfPresent = ofProgram.some((one) => one.generation === generation);
    // Only YARN knows that a container ran out of memory, and reports it after its executor was missed.
    const isToldByYarn = ofProgram.some(({ endedBy }) => endedBy?.reason.code === "ran-out-of-memory");
    const unsettled = Number(isGang && (phase !== "succeeded" || isToldByYarn) && !isOfPresent);
    const charged = retries + Number(hasFailed);
    const most = witness.mostCharges("program", (task) => numberOf(spec, task) === number) + allowed;
    if (retries > search.retries + unsettled) return [`${id} was started again ${retries} times of ${search.retries}`];
    if (charged > most + unsettled)
      return [`${charged} failures are charged to trial ${number}, whose programs failed ${most} times`];
    // The trial may have failed by a charge that was still being judged.
    const paid = Math.max(charged, retriesOf(core, task) + Number(hasFailed));
    return hasFailed && paid <= search.retries
      ? [`${id} is ${phase} and has failed, with ${retries} restarts of ${search.retries}: ${trialFailure.words}`]
      : [];
  });
  const total = spec.trials ?? core.state.tasks.length;
  const isComplete = outcome?.reason.code !== "trials-ended" || trials.length === total;
  return isComplete ? problems : [...problems, `the search ended after ${trials.length} of ${total} trials`];
}

/** The number of the trial that a task belongs to. */
function numberOf(spec: JobSpec, task: string): number {
  const name = parseTaskId(task);
  return name === undefined ? -1 : inTrial(spec, name).number;
}

/** How often a paused trial may have gone on. */
export function promotionsOf({ core }: World, task: string): number {
  const pausing = pausingIn(core);
  const number = numberOf(core.spec, task);
  const lead = leadOfTrial(core.spec, number);
  const record = core.state.tasks.find(({ id }) => id === lead);
  return pausing === undefined || record === undefined
    ? 0
    : rungOf(pausing, trialOf(record), number) - rungOf(pausing, { params: {}, state: "running" }, number);
}
