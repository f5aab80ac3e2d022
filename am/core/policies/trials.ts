import { hasValue, type Trial, type TrialState } from "../../../src/job/search/trials.ts";
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

export function trialOf(task: TaskRecord): Trial {
  const { trialParameters: params = {}, trialReports, trialValue, step } = task;
  const value = trialValue === undefined ? undefined : Number(trialValue);
  return {
    params,
    step,
    state: stateOf(task, value),
    ...(value === undefined ? {} : { value }),
    ...(trialReports && { reports: trialReports.map((report) => ({ ...report, value: Number(report.value) })) }),
  };
}

/** One whose program or container is gone, and that may start again, runs. What ended without the metric has no value to learn from. */
function stateOf({ phase, trialStop, trialFailure }: TaskRecord, value: number | undefined): TrialState {
  if (trialStop !== undefined && AFTER_END.includes(phase)) {
    return "stopped";
  }
  if (trialFailure !== undefined) {
    return "failed";
  }
  if (phase === "succeeded") {
    return hasValue(value) ? "completed" : "failed";
  }
  return "running";
}
