import { countWords } from "../reasons/words.ts";
import { rungsOf } from "./asha.ts";
import type { Pause } from "./promotion.ts";
import type { Stop } from "./stop.ts";
import { type Search, type TrialState, trialStates } from "./trials.ts";

type Described = Pick<Search, "algorithm" | "stop" | "budget" | "direction" | "metric" | "maxTrials" | "maxParallel">;

/** `tpe with asha at steps 1, 3, 9, 27 of 81, maximize accuracy · 20 trials, 4 at once` */
export function searchLine(search: Described): string {
  const { algorithm, stop, budget, direction, metric, maxTrials, maxParallel } = search;
  const count = maxTrials === undefined ? "all trials of the grid" : countWords(maxTrials, "trial");
  const rungs = budget === undefined || !hasRungs(stop) ? [] : rungsOf(budget).filter((step) => step < budget.max);
  const steps = rungs.length === 0 ? "" : ` at steps ${rungs.join(", ")} of ${budget?.max}`;
  const rules = stop === "none" ? algorithm : `${algorithm} with ${stop}${steps}`;
  return `${rules}, ${direction} ${metric} · ${count}, ${maxParallel} at once`;
}

/** Whether a rule compares trials at the rungs of `tony.search.budget`. */
export function hasRungs(stop: Search["stop"]): boolean {
  return stop !== "none" && stop !== "median";
}

/** Why a trial was stopped early. */
export function stopWords(stop: Stop): string {
  if (stop.rule === "median") {
    const others = `the median of what ${countWords(stop.trials, "trial")} had on average by then`;
    const [best, median] = apart(stop.best, stop.median);
    return `its best by step ${stop.step}, ${best}, is worse than ${median}, ${others}`;
  }
  const own = stop.value === undefined ? "NaN" : valueWords(stop.value);
  return `its ${own} at the rung of step ${stop.step} is not among the best ${stop.best} of ${countWords(stop.trials, "trial")} there`;
}

/** Why a trial pauses. */
export function pauseWords({ step, value }: Pause): string {
  return `it waits at step ${step} with ${value === undefined ? "NaN" : valueWords(value)}: the best of those there go on`;
}

/** Numbers from here on are written with an exponent. */
const MOST_WRITTEN = 1e12;

/** A parameter or metric, short enough for a table; JSON has all digits. */
export function valueWords(value: string | number | undefined): string {
  if (value === undefined) return "–";
  const number = Number(value);
  if (Number.isFinite(number) && Math.abs(number) >= MOST_WRITTEN)
    return String(Number(number.toPrecision(5)).toExponential());
  return Number.isFinite(number) && !Number.isInteger(number) ? String(Number(number.toPrecision(5))) : String(value);
}

/** Two different values, in words that differ. */
function apart(one: number, other: number): [string, string] {
  const short: [string, string] = [valueWords(one), valueWords(other)];
  return short[0] === short[1] ? [String(one), String(other)] : short;
}

/** `12 completed, 3 stopped, 1 failed`; empty where there is none. */
export function trialCountWords(counts: Partial<Record<TrialState, number>>): string {
  return trialStates.flatMap((state) => (counts[state] ? [`${counts[state]} ${state}`] : [])).join(", ");
}

/** What a trial's program printed last; undefined where the words of its failure already say it, as the last line of a traceback. */
export function lastLineBeside(words: string, lines: readonly string[] = []): string | undefined {
  const last = lines.findLast((line) => line.trim() !== "");
  return last === undefined || words.includes(last.trim()) ? undefined : last;
}
