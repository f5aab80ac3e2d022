import { type Budget, compareValues, hasValue, type Pausing, type Report, type Search, type Trial } from "./trials.ts";

/** Why a trial is to be stopped: at a rung it is not among the best. */
export interface RungStop {
  readonly rule: "asha";
  /** The rung's. */
  readonly step: number;
  /** What it reported there; NaN is told as absent. */
  readonly value?: number;
  /** How many of those that came there go on. */
  readonly best: number;
  readonly trials: number;
}

/** By multiplication: a logarithm that is a little too small would lose the last one. */
export function rungsOf({ min, max, factor }: Budget): number[] {
  const rungs: number[] = [];
  for (let rung = min; rung <= max; rung *= factor) rungs.push(rung);
  return rungs;
}

/**
 * Asynchronous successive halving, by stopping (Li et al. 2018; as Determined and Optuna have it): of the trials that came to a rung one in
 * `factor` goes on, at least one, and waits for nobody. The earlier trial is the better one of equals. It is decided by the report that
 * comes to the rung, never again by a later one; at the last rung nobody is stopped.
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
 * The same by promotion (`get_job` of the paper): the paused trial that goes on next, from the highest rung down the best of those that are
 * among the ⌊trials there / factor⌋ best. A rung to which fewer than `factor` have come promotes nobody, until no other trial comes: then its
 * best goes on.
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

/** What a trial first reported at a rung, or behind it where it reported none there. */
export function reportAt({ reports = [] }: Trial, rung: number): Report | undefined {
  return reports.find(({ step }) => step >= rung);
}
