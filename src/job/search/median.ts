import { compareValues, type Report, type Search, type Trial } from "./trials.ts";

/** How many trials must have completed before one is stopped. */
const LEAST_COMPLETED = 5;

/** Why a trial has to be stopped: its best value up to its last step is worse than the median of the others' averages up to that step. */
export interface MedianStop {
  readonly rule: "median";
  readonly step: number;
  readonly best: number;
  readonly median: number;
  /** The number of trials in the median. */
  readonly trials: number;
}

/**
 * Vizier's median rule (Golovin et al. 2017, 3.2.2), by steps instead of the number of reports: completed trials that reached the step count.
 * Undefined: the trial continues.
 */
export function medianStop(
  { direction }: Pick<Search, "direction">,
  trial: Trial,
  others: readonly Trial[],
  leastCompleted = LEAST_COMPLETED,
): MedianStop | undefined {
  const reports = knownReports(trial);
  const step = trial.reports?.at(-1)?.step;
  const [best] = reports.map(({ value }) => value).sort((a, b) => compareValues(direction, a, b));
  if (step === undefined || best === undefined) return undefined;
  const means = others.filter(({ state }) => state === "completed").flatMap((other) => meanBy(other, step) ?? []);
  if (means.length < leastCompleted) return undefined;
  const median = medianOf(means);
  if (compareValues(direction, best, median) <= 0) return undefined;
  return { rule: "median", step, best, median, trials: means.length };
}

/** A trial's average up to a step; undefined for a trial that did not reach it, or reported no number. */
function meanBy({ reports = [] }: Trial, step: number): number | undefined {
  if ((reports.at(-1)?.step ?? Number.NEGATIVE_INFINITY) < step) return undefined;
  const mean = runningMeans(reports).findLast((one) => one.step <= step)?.value;
  return mean === undefined || Number.isNaN(mean) ? undefined : mean;
}

/** Keyed by the reports that they are computed from, which never change: with thousands of trials each report looks at all of them. */
const MEANS = new WeakMap<readonly Report[], readonly Report[]>();

function runningMeans(reports: readonly Report[]): readonly Report[] {
  const known = MEANS.get(reports);
  if (known !== undefined) return known;
  let sum = 0;
  const means = knownReports({ reports }).map(({ step, value }, index) => {
    sum += value;
    return { step, value: sum / (index + 1) };
  });
  MEANS.set(reports, means);
  return means;
}

function knownReports({ reports = [] }: Pick<Trial, "reports">): readonly Report[] {
  return reports.filter(({ value }) => !Number.isNaN(value));
}

/** For an even number of values the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  // Two infinities with the same sign have themselves as their mean.
  return low === high ? (low ?? Number.NaN) : ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
