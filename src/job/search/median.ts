import { compareValues, type Report, type Search, type Trial } from "./trials.ts";

/** Trials that have to have completed before one is stopped. */
const LEAST_COMPLETED = 5;

/** Why a trial is to be stopped: its best value by its last step is worse than the median of what others had on average by then. */
export interface MedianStop {
  readonly rule: "median";
  readonly step: number;
  readonly best: number;
  readonly median: number;
  /** How many trials the median is of. */
  readonly trials: number;
}

/**
 * The median rule of Vizier (Golovin et al. 2017, 3.2.2), by steps, not by the number of reports: of completed trials those count that came as
 * far. Undefined: the trial goes on.
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

/** What a trial reported on average up to a step; undefined of one that did not come as far, or reported no number. */
function meanBy({ reports = [] }: Trial, step: number): number | undefined {
  if ((reports.at(-1)?.step ?? Number.NEGATIVE_INFINITY) < step) return undefined;
  const mean = runningMeans(reports).findLast((one) => one.step <= step)?.value;
  return mean === undefined || Number.isNaN(mean) ? undefined : mean;
}

/** By the reports that they are of, which never change: with thousands of trials a report of one looks at all. */
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

/** Of an even number the middle of the two in the middle. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]];
  // Of two infinities of one sign their middle is that.
  return low === high ? (low ?? Number.NaN) : ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
