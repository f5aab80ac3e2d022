import { durationWords } from "../reasons/words.ts";
import type { JobStatus, SearchStatus, TaskStatus, TrialStatus } from "../status.ts";
import { idleShare } from "./container-time.ts";
import type { Parameters } from "./space.ts";
import { compareValues, countStates, hasValue, type TrialState } from "./trials.ts";
import { valueWords } from "./words.ts";

/** With fewer ended trials nobody knows how long they take. */
const LEAST_ENDED = 3;
/** The duration of trials in these states is not known yet. */
const goesOn: readonly TrialState[] = ["running", "paused"];

/** A trial as shown to people and programs. */
export interface TrialJson extends TrialStatus {
  readonly number: number;
  readonly task: string;
  /** With all digits; numbers where its program gets numbers. */
  readonly params: Parameters;
  /** Its last reported value; `nonFinite` where JSON cannot represent that number. */
  readonly value?: number;
  readonly step?: number;
  /** The step of its `checkpoint`. */
  readonly checkpointStep?: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
}

export type Trials = Pick<JobStatus, "tasks">;

/**
 * The trials that have parameters, the best first: those that have ended or pause, then running ones, whose values are not final, then
 * failed ones. Trials without a value come last in their group.
 */
export function trialsOf({ tasks }: Trials, { metric, direction, trials: gangs }: SearchStatus): TrialJson[] {
  // For trials that are gangs, which begin in the order of their numbers, the lead tasks have the facts.
  const leads = gangs === undefined ? tasks : tasks.filter((task) => task.trial !== undefined);
  const trials = leads.flatMap((task, number) => {
    return task.trial === undefined ? [] : [trialOf(task, task.trial, number, metric)];
  });
  return trials.toSorted((a, b) => rankOf(a) - rankOf(b) || compareValues(direction, reported(a), reported(b)));
}

function rankOf({ state }: TrialJson): number {
  if (state === "failed") return 2;
  return state === "running" ? 1 : 0;
}

export function reported({ value, nonFinite }: TrialJson): number | undefined {
  return value ?? (nonFinite && Number(nonFinite));
}

function trialOf(
  { task, params = {}, metrics, step, checkpointStep, endedAtMs, startedAtMs }: TaskStatus,
  trial: NonNullable<TaskStatus["trial"]>,
  number: number,
  metric: string,
): TrialJson {
  const value = metrics?.[metric];
  return {
    ...{ number, task, params, ...trial },
    ...(value === undefined ? {} : { value }),
    ...(step === undefined ? {} : { step }),
    ...(trial.checkpoint === undefined || checkpointStep === undefined ? {} : { checkpointStep }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
  };
}

/** The best trial that has ended with a value, or pauses; an interrupted one counts with its last value. */
export function bestOf(trials: readonly TrialJson[]): TrialJson | undefined {
  return trials.find((trial) => hasValue(reported(trial)) && trial.state !== "running" && trial.state !== "failed");
}

export function isBetter(trial: TrialJson, than: TrialJson | undefined, { direction }: SearchStatus): boolean {
  return than === undefined || compareValues(direction, reported(trial), reported(than)) < 0;
}

/** `accuracy 0.9731` */
export function metricOf(trial: TrialJson, { metric }: SearchStatus): string {
  return `${metric} ${valueWords(reported(trial))}`;
}

/** `lr=0.12346 optimizer=adam` */
export function parametersOf({ params }: TrialJson, { parameters }: SearchStatus): string {
  return parameters.flatMap((name) => (name in params ? [`${name}=${valueWords(params[name])}`] : [])).join(" ");
}

/** `accuracy 0.9731 at step 81 · lr=0.0031 optimizer=adam` */
export function standing(trial: TrialJson, search: SearchStatus): string {
  const step = trial.step === undefined ? "" : ` at step ${trial.step}`;
  return `${metricOf(trial, search)}${step} · ${parametersOf(trial, search)}`;
}

/**
 * `58 ended (41 stopped early, 2 failed) · 3 running · 1 waiting · 38 to come · about 12 min left · idle 1.1 % of container time`, the last part
 * once containers have done more than start.
 */
export function countsLine(
  { tasks }: JobStatus,
  { containerTime, trials: most = tasks.length }: SearchStatus,
  trials: readonly TrialJson[],
): string {
  const { stopped, failed, paused, running } = countStates(trials);
  // It has parameters before it has a container.
  const waiting = tasks.filter(({ trial, state }) => trial?.state === "running" && state === "waiting").length;
  const ended = trials.length - running - paused;
  const toCome = most - trials.length;
  const apart = [stopped > 0 && `${stopped} stopped early`, failed > 0 && `${failed} failed`]
    .filter(Boolean)
    .join(", ");
  const leftMs = timeLeftMs(trials, toCome);
  const idle = containerTime && idleShare(containerTime);
  return [
    `${ended} ended${apart === "" ? "" : ` (${apart})`}`,
    `${running - waiting} running`,
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(paused > 0 ? [`${paused} paused`] : []),
    `${toCome} to come`,
    ...(leftMs === undefined ? [] : [`about ${durationWords(leftMs)} left`]),
    ...(idle === undefined || idle === "100.0 %" ? [] : [`idle ${idle} of container time`]),
  ].join(" · ");
}

/**
 * Assumes that the remaining trials take as long as those that have ended, and that as many run at once as now. Undefined where too little
 * is known, or less than a second would be left: then the last trials take longer than the others, or have been restarted.
 */
function timeLeftMs(trials: readonly TrialJson[], toCome: number): number | undefined {
  const durations = trials.flatMap(({ state, startedAtMs, endedAtMs }) =>
    goesOn.includes(state) || startedAtMs === undefined || endedAtMs === undefined ? [] : [endedAtMs - startedAtMs],
  );
  const running = trials.filter(({ state }) => state === "running").length;
  if (durations.length < LEAST_ENDED || running === 0) return undefined;
  const meanMs = durations.reduce((sum, one) => sum + one, 0) / durations.length;
  const leftMs = (meanMs * (toCome + running / 2)) / running;
  return leftMs < 1_000 ? undefined : leftMs;
}
