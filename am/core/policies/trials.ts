import { nextPromotion, pausingOf } from "../../../src/job/search/promotion.ts";
import { hasValue, type Pausing, type Trial, type TrialState } from "../../../src/job/search/trials.ts";
import type { TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";

type Job = Pick<Step, "spec" | "state">;

/** How many more containers a search's role may have at present; infinite of a job that is no search. */
export function trialsToBegin(job: Job, position: number): number {
  const { search } = job.spec;
  if (search === undefined) {
    return Number.POSITIVE_INFINITY;
  }
  const had = Object.values(job.state.containers).filter(
    ({ role, phase }) => role === position && (phase === "held" || phase === "unclaimed"),
  );
  return Math.max(0, Math.min(search.maxParallel - had.length, trialsDue(job)));
}

/** How many of a search's trials that wait could run, whatever containers there are. */
function trialsDue({ spec, state }: Job): number {
  return awaitsResults(spec)
    ? begun({ state }).filter(({ phase }) => phase === "waiting").length
    : Number.POSITIVE_INFINITY;
}

/** Whether trials have their parameters when those before them have ended, whatever containers there are, and want none before. */
export function awaitsResults({ search }: Job["spec"]): boolean {
  return search?.algorithm === "evolution";
}

/** Whether a task that waits may have a container. */
export function isDue({ spec }: Job, { trialParameters }: TaskRecord): boolean {
  return trialParameters !== undefined || !awaitsResults(spec);
}

/** The trials that were given parameters, in the order of their numbers. */
export function begun({ state }: Pick<Step, "state">): TaskRecord[] {
  return state.tasks.filter(({ trialParameters }) => trialParameters !== undefined);
}

/** Why a trial does not go on at present, whatever becomes of its program and container: it was stopped early, or pauses. */
export function haltOf({ trialStop, trialPause }: TaskRecord): string | undefined {
  return trialStop ?? trialPause;
}

/** How the search's trials pause and go on; undefined where they do not. */
export function pausingIn({ spec, state }: Job): Pausing | undefined {
  return spec.search && pausingOf(spec.search, state.tasks.length);
}

/** The paused trial that goes on next, as soon as there is room for it. */
export function promotable(job: Job): TaskRecord | undefined {
  const pausing = pausingIn(job);
  const tasks = pausing === undefined ? [] : begun(job);
  const number = pausing && nextPromotion(pausing, tasks.map(trialOf));
  return number === undefined ? undefined : tasks[number];
}

/** Whether one more trial could have a container, beside those that have one or wait for it since they run again. */
export function hasRoom({ spec, state }: Job): boolean {
  const had = Object.values(state.containers).filter(({ phase }) => phase === "held" || phase === "unclaimed");
  const waiting = begun({ state }).filter(({ phase }) => phase === "waiting");
  return had.length + waiting.length < (spec.search?.maxParallel ?? 0);
}

export function trialOf(task: TaskRecord): Trial {
  const { trialParameters: params = {}, trialReports, trialValue, trialRung: rung, step } = task;
  const value = trialValue === undefined ? undefined : Number(trialValue);
  return {
    params,
    step,
    state: stateOf(task, value),
    ...(value === undefined ? {} : { value }),
    ...(rung === undefined ? {} : { rung }),
    ...(trialReports && { reports: trialReports.map((report) => ({ ...report, value: Number(report.value) })) }),
  };
}

/** One whose program or container is gone, and that may start again, runs. What ended without the metric has no value to learn from. */
function stateOf({ phase, trialStop, trialPause, trialFailure }: TaskRecord, value: number | undefined): TrialState {
  if (trialStop !== undefined && AFTER_END.includes(phase)) {
    return "stopped";
  }
  if (trialFailure !== undefined) {
    return "failed";
  }
  if (phase === "succeeded") {
    return hasValue(value) ? "completed" : "failed";
  }
  return trialPause !== undefined && AFTER_END.includes(phase) ? "paused" : "running";
}
