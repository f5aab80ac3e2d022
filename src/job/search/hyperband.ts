import { reportAt } from "./asha.ts";
import { compareValues, hasValue, type Pausing, type Trial } from "./trials.ts";

/** Trials that are halved together. */
export interface Bracket {
  /** The index of the rung that they begin with. */
  readonly rung: number;
  readonly trials: number;
}

/**
 * One round of hyperband (Li et al. 2018, JMLR 18-185): from many trials with the smallest budget to few with the whole one, each bracket
 * at about the same cost. A bracket with s further rungs has ⌈(rungs / (s + 1)) · factor^s⌉ trials, as in Optuna and KerasTuner.
 */
export function bracketsOf(rungs: number, factor: number): Bracket[] {
  return Array.from({ length: rungs }, (_, rung) => {
    const further = rungs - 1 - rung;
    return { rung, trials: Math.ceil((rungs * factor ** further) / (further + 1)) };
  });
}

/** The number of trials in one round. */
export function roundOf(rungs: number, factor: number): number {
  return bracketsOf(rungs, factor).reduce((sum, { trials }) => sum + trials, 0);
}

/** The rung that a trial begins with. Rounds repeat as long as there are trials. */
export function hyperbandStart({ rungs, factor }: Pausing, number: number): number {
  let place = number % roundOf(rungs.length, factor);
  for (const { rung, trials } of bracketsOf(rungs.length, factor)) {
    if (place < trials) return rung;
    place -= trials;
  }
  return 0;
}

/**
 * The paused trial that continues next, the furthest one first: one that is among the best of its bracket at a rung, whatever the trials
 * report that are still to reach it.
 */
export function hyperbandPromotion(pausing: Pausing, trials: readonly Trial[]): number | undefined {
  const { rungs, factor, total } = pausing;
  const found: { readonly number: number; readonly rung: number }[] = [];
  for (let start = 0; start < trials.length; ) {
    for (const bracket of bracketsOf(rungs.length, factor)) {
      const count = Math.max(0, Math.min(bracket.trials, total - start));
      found.push(...promotable(pausing, { ...bracket, trials: count }, trials, start));
      start += bracket.trials;
    }
  }
  return found.sort((a, b) => b.rung - a.rung)[0]?.number;
}

/** For one bracket, whose first trial has the number `start`. */
function promotable({ rungs, factor, direction }: Pausing, bracket: Bracket, trials: readonly Trial[], start: number) {
  const numbers = trials.slice(start, start + bracket.trials).map((_, index) => start + index);
  const members = numbers.flatMap((number) => {
    const trial = trials[number];
    return trial === undefined ? [] : [{ number, trial, rung: trial.rung ?? bracket.rung }];
  });
  const found: { readonly number: number; readonly rung: number }[] = [];
  // The number of trials that reach the rung, now or later.
  let expected = bracket.trials;
  for (const [rung, step] of rungs.slice(0, -1).entries()) {
    if (rung < bracket.rung) continue;
    const admitted = members.filter((member) => member.rung >= rung);
    const valueThere = (trial: Trial) => reportAt(trial, step)?.value;
    const there = admitted.filter(({ trial }) => reportAt(trial, step) !== undefined || hasEnded(trial));
    const awaited = expected - there.length;
    const size = Math.max(1, Math.floor(bracket.trials / factor ** (rung - bracket.rung + 1)));
    const ranked = there
      .filter(({ trial }) => trial.state !== "failed" && hasValue(valueThere(trial)))
      .sort((a, b) => compareValues(direction, valueThere(a.trial), valueThere(b.trial)));
    const certain = ranked.slice(0, Math.max(0, size - awaited));
    found.push(...certain.filter((member) => member.rung === rung && member.trial.state === "paused").slice(0, 1));
    expected = awaited > 0 ? size : certain.filter((member) => member.rung > rung || !hasEnded(member.trial)).length;
  }
  return found;
}

/** Whether it never continues. */
function hasEnded({ state }: Trial): boolean {
  return state !== "running" && state !== "paused";
}
