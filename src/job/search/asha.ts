import { type Budget, compareValues, hasValue, type Pausing, type Report, type Search, type Trial } from "./trials.ts";

/** Why a trial has to be stopped: it is not among the best at a rung. */
export interface RungStop {
  readonly rule: "asha";
  /** The rung's step. */
  readonly step: number;
  /** The value that it reported there; NaN is represented as absent. */
  readonly value?: number;
  /** How many of the trials that reached the rung continue. */
  readonly best: number;
  readonly trials: number;
}

/** Computed by multiplication: a logarithm that is slightly too small would lose the last rung. */
export function rungsOf({ min, max, factor }: Budget): number[] {
  const rungs: number[] = [];
  for (let rung = min; rung <= max; rung *= factor) rungs.push(rung);
  return rungs;
}

/**
 * Asynchronous successive halving, by stopping (Li et al. 2018; as in Determined and Optuna): of the trials that reach a rung one in
 * `factor` continues, at least one, and none waits. Of equal trials the earlier one is better. The report that reaches the rung decides,
 * and later ones never change it; nobody is stopped at the last rung.
 */
export function ashaStop(
  { direction }: Pick<Search, "direction">,
  budget: Budget,
  trial: Trial,
  trials: readonly Trial[],
): RungStop | undefined {
  const last = trial.reports?.at(-1);
  const step = rungsOf(budget)
    .slice(0, -1)
    .filter((rung) => last !== undefined && rung <= last.step)
    .at(-1);
  if (step === undefined || last === undefined || reportAt(trial, step) !== last) return undefined;
  const there = trials.filter((one) => reportAt(one, step) !== undefined);
  const best = Math.max(1, Math.floor(there.length / budget.factor));
  const order = [...there].sort((a, b) => compareValues(direction, reportAt(a, step)?.value, reportAt(b, step)?.value));
  const { value } = last;
  if (order.slice(0, best).includes(trial) && !Number.isNaN(value)) return undefined;
  return { rule: "asha", step, ...(Number.isNaN(value) ? {} : { value }), best, trials: there.length };
}

/**
 * The same by promotion (`get_job` of the paper): selects the paused trial that continues next. From the highest rung down, it is the best of
 * those among the ⌊trials at the rung / factor⌋ best. A rung with fewer than `factor` trials promotes none until no more trials will arrive;
 * then its best continues.
 */
export function ashaPromotion(
  { rungs, factor, direction, total }: Omit<Pausing, "rule">,
  trials: readonly Trial[],
): number | undefined {
  const isLast = trials.length === total && trials.every(({ state }) => state !== "running");
  for (const [rung, step] of [...rungs.slice(0, -1).entries()].reverse()) {
    const there = trials.flatMap((trial, number) => {
      const report = reportAt(trial, step);
      return report === undefined ? [] : [{ number, trial, value: report.value }];
    });
    const best = there
      .filter(({ trial }) => trial.state !== "failed")
      .sort((a, b) => compareValues(direction, a.value, b.value))
      .slice(0, Math.max(isLast ? 1 : 0, Math.floor(there.length / factor)));
    const next = best.find(
      ({ trial, value }) => trial.state === "paused" && (trial.rung ?? 0) === rung && hasValue(value),
    );
    if (next !== undefined) return next.number;
  }
  return undefined;
}

/** A trial's first report at a rung, or after it where it reported none there. */
export function reportAt({ reports = [] }: Trial, rung: number): Report | undefined {
  return reports.find(({ step }) => step >= rung);
}
