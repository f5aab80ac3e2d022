import { nextPromotion, pausingOf } from "../../../src/job/search/promotion.ts";
import { leadOfTrial } from "../../../src/job/search/trial-tasks.ts";
import { hasValue, type Pausing, type Report, type Trial, type TrialState } from "../../../src/job/search/trials.ts";
import { countTasks } from "../../../src/job/spec.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord, WrittenReport } from "../state/records.ts";
import { findTask, gangOf, inJob, type Step } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";

type Job = Pick<Step, "spec" | "state">;

/** Whether the job is a search each of whose trials is one task, which starts when it can. */
export function isOfTasks({ spec }: Pick<Step, "spec">): boolean {
  return spec.search !== undefined && spec.trials === undefined;
}

/**
 * How many more containers a search's role may have at present; infinite in a job that is no search. Where trials are gangs the role is the
 * job's, which all trials have.
 */
export function trialsToBegin(job: Job, position: number): number {
  const { search, trials, roles } = job.spec;
  if (search === undefined) {
    return Number.POSITIVE_INFINITY;
  }
  const had = Object.values(job.state.containers).filter(({ phase }) => phase === "held" || phase === "unclaimed");
  const ofRole = had.filter(({ role }) => inJob(job, role) === position);
  const leftOf = (ofTrial: number, some: readonly unknown[]) => search.maxParallel * ofTrial - some.length;
  const left =
    trials === undefined
      ? leftOf(1, ofRole)
      : // A container of another role may have been handed over to this one.
        Math.min(leftOf(roles[position]?.instances ?? 0, ofRole), leftOf(countTasks({ roles }), had));
  return Math.max(0, Math.min(left, trialsDue(job)));
}

/** How many of a search's waiting trials could run, however many containers there are. */
function trialsDue({ spec, state }: Job): number {
  return awaitsResults(spec)
    ? begun({ state }).filter(({ phase }) => phase === "waiting").length
    : Number.POSITIVE_INFINITY;
}

/**
 * Whether trials get their parameters only when earlier trials have ended or Optuna has proposed them, whatever containers there are, and want
 * no container before.
 */
export function awaitsResults({ search, trials }: Job["spec"]): boolean {
  return trials === undefined && (search?.algorithm === "evolution" || search?.algorithm === "optuna");
}

/** The number of the trial for which Optuna is to be asked: there is room for it, and it has no parameters. */
export function trialToPropose({ spec, state }: Job): number | undefined {
  const { search, trials = state.tasks.length } = spec;
  if (search?.algorithm !== "optuna" || state.phase !== "under-way" || state.outcome !== undefined) {
    return undefined;
  }
  const number = begun({ state }).length;
  const isOpen = number >= search.points.length && number < trials;
  return isOpen && hasRoom({ spec, state }) ? number : undefined;
}

/** Whether a waiting task may have a container. */
export function isDue({ spec }: Job, { trialParameters }: TaskRecord): boolean {
  return trialParameters !== undefined || !awaitsResults(spec);
}

/** The trials that were given parameters, in the order of their numbers. */
export function begun({ state }: Pick<Step, "state">): TaskRecord[] {
  return state.tasks.filter(({ trialParameters }) => trialParameters !== undefined);
}

/** Why a trial does not go on at present, whatever happens to its program and container: it was stopped early, or pauses. */
export function haltOf({ trialStop, trialPause }: TaskRecord): string | undefined {
  return trialStop ?? trialPause;
}

/** How the search's trials pause and go on; undefined where they do not. */
export function pausingIn({ spec, state }: Job): Pausing | undefined {
  return spec.search && pausingOf(spec.search, spec.trials ?? state.tasks.length);
}

/** The paused trial that goes on next, as soon as there is room for it. */
export function promotable(job: Job): TaskRecord | undefined {
  const pausing = pausingIn(job);
  const tasks = pausing === undefined ? [] : begun(job);
  const number = pausing && nextPromotion(pausing, tasks.map(trialOf));
  return number === undefined ? undefined : tasks[number];
}

/** Whether an executor of a trial is still uploading what was left in its container: then it leaves, and the trial goes on elsewhere. */
export function isLeaving(job: Job, { id, role }: TaskRecord): boolean {
  const gang = job.state.roles[role]?.gang;
  const isOfTrial = (container: ContainerRecord) =>
    job.spec.trials === undefined ? container.task === id : job.state.roles[container.role]?.gang === gang;
  return Object.values(job.state.containers).some((one) => one.deadlines.leave !== undefined && isOfTrial(one));
}

/** The task that holds what is known of a task's trial, and whose reports count: itself, or the lead of its gang. */
export function leadOf(job: Step, task: TaskRecord): TaskRecord {
  return job.spec.trials === undefined ? task : (leadOfGang(job, gangOf(job, task)) ?? task);
}

/** The same for a trial that is a gang; undefined where it is none. */
export function leadOfGang(job: Step, { position }: Pick<GangState, "position">): TaskRecord | undefined {
  return job.spec.trials === undefined ? undefined : findTask(job, leadOfTrial(job.spec, position));
}

/** Whether one more trial could run beside those that have containers, or wait for them because they start again. */
export function hasRoom({ spec, state }: Job): boolean {
  const most = spec.search?.maxParallel ?? 0;
  if (spec.trials !== undefined) {
    return state.gangs.filter((gang) => isAtWork(state, gang)).length < most;
  }
  const had = Object.values(state.containers).filter(
    ({ phase, deadlines }) => (phase === "held" && deadlines.idle === undefined) || phase === "unclaimed",
  );
  const waiting = begun({ state }).filter(({ phase }) => phase === "waiting");
  return had.length + waiting.length < most;
}

/** Whether trials that do not run now may begin or go on, depending on the others' results. */
export function mayRunMore({ state }: Pick<Step, "state">): boolean {
  return (
    state.roles.some(({ counts }) => counts.waiting > 0) ||
    begun({ state }).some(({ trialPause, trialStop }) => trialPause !== undefined && trialStop === undefined)
  );
}

/** A gang that is done counts until the journal knows: only then do its containers serve others. */
function isAtWork({ held }: Step["state"], { phase, position }: GangState): boolean {
  return phase === "done" ? held[`stage-done ${position}`] !== undefined : phase !== "ahead" && phase !== "over";
}

/** Whether a trial does not run, and would not start again by itself. */
export function isTrialOver({ phase, trialOver }: TaskRecord): boolean {
  return trialOver ?? AFTER_END.includes(phase);
}

/** How often a trial was restarted after its program had failed, as far as is known now: a program may fail because of what another one lost. */
export function retriesOf(job: Job, task: TaskRecord): number {
  return job.spec.trials === undefined ? (task.trialRetries ?? 0) : failedGenerations(gangOf(job, task));
}

function failedGenerations({ generations, generation: present }: GangState): number {
  return generations.filter(({ generation, endedBy }) => generation < present && endedBy?.class === "program").length;
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
    ...(trialReports && { reports: reportsOf(trialReports) }),
  };
}

/** Cached by the written reports, which never change: each report of a trial looks at all trials. */
const REPORTS = new WeakMap<readonly WrittenReport[], readonly Report[]>();

function reportsOf(written: readonly WrittenReport[]): readonly Report[] {
  const known = REPORTS.get(written);
  const reports = known ?? written.map((report) => ({ ...report, value: Number(report.value) }));
  if (known === undefined) {
    REPORTS.set(written, reports);
  }
  return reports;
}

/**
 * A trial whose program or container is gone counts as running while it may start again. One that ended without the metric has no value to learn
 * from.
 */
function stateOf(task: TaskRecord, value: number | undefined): TrialState {
  const { phase, trialStop, trialPause, trialFailure, trialOver } = task;
  const isOver = isTrialOver(task);
  // The lead of a pausing gang may end well before the others are stopped; the trial itself has not ended well then.
  const endedWell = phase === "succeeded" && (trialOver === undefined || trialPause === undefined);
  if (trialStop !== undefined && isOver) {
    return "stopped";
  }
  if (trialFailure !== undefined) {
    return "failed";
  }
  if (endedWell && isOver) {
    return hasValue(value) ? "completed" : "failed";
  }
  return trialPause !== undefined && isOver ? "paused" : "running";
}
