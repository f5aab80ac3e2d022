import { ashaPromotion, reportAt, rungsOf } from "./asha.ts";
import { hyperbandPromotion, hyperbandStart } from "./hyperband.ts";
import type { Pausing, Search, Trial } from "./trials.ts";

/** What happens to a trial after its report: the index of the rung that it may run to, and whether it pauses there. */
export interface Standing {
  readonly rung: number;
  readonly pause?: Pause;
}

export interface Pause {
  /** The rung's step. */
  readonly step: number;
  /** The value that the trial reported there; NaN is represented as absent. */
  readonly value?: number;
}

/**
 * How a search's trials pause at rungs and continue when they are among the best; undefined where they do not.
 * @param total how many trials there will be
 */
export function pausingOf({ stop, budget, direction }: Search, total: number): Pausing | undefined {
  const isPausing = stop === "asha-promotion" || stop === "hyperband";
  return budget !== undefined && isPausing
    ? { rule: stop, rungs: rungsOf(budget), factor: budget.factor, direction, total }
    : undefined;
}

/** The number of the paused trial that continues next; undefined: none does, by what is known. */
export function nextPromotion(pausing: Pausing, trials: readonly Trial[]): number | undefined {
  return pausing.rule === "hyperband" ? hyperbandPromotion(pausing, trials) : ashaPromotion(pausing, trials);
}

/** The rung that a trial may run to: the last one is the end of its program. */
export function rungOf(pausing: Pausing, { rung }: Trial, number: number): number {
  return rung ?? (pausing.rule === "hyperband" ? hyperbandStart(pausing, number) : 0);
}

/** The rung at which a trial of an earlier search pauses: the last one that it reached. */
export function pausedRung({ rungs }: Pausing, { step = 0, reports }: Trial): number {
  const reached = reports?.at(-1)?.step ?? step;
  return Math.max(
    0,
    rungs.slice(0, -1).findLastIndex((rung) => reached >= rung),
  );
}

/** A trial's standing by its reports. A trial that would be the next to continue does not pause at all. */
export function standingOf(pausing: Pausing, number: number, trials: readonly Trial[]): Standing {
  const { rungs } = pausing;
  const trial = trials[number];
  let rung = trial === undefined ? 0 : rungOf(pausing, trial, number);
  while (trial !== undefined && rung < rungs.length - 1) {
    const step = rungs[rung] ?? 0;
    const report = reportAt(trial, step);
    if (report === undefined) break;
    const paused: Trial = { ...trial, state: "paused", rung };
    const others = trials.map((other, index) => (index === number ? paused : other));
    if (nextPromotion(pausing, others) !== number) {
      return { rung, pause: { step, ...(Number.isNaN(report.value) ? {} : { value: report.value }) } };
    }
    rung += 1;
  }
  return { rung };
}
