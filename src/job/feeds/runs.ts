import { countBefore } from "../sorted.ts";

/**
 * A set of whole numbers, as the bounds of its runs: `[2, 5, 9, 10]` contains 2, 3, 4 and 9. The used part of a feed is a few runs, however
 * many splits it has, because splits are handed out in order.
 */
export type Runs = readonly number[];

export function hasNumber(runs: Runs, number: number): boolean {
  return placeBehind(runs, number) % 2 === 1;
}

export function addNumber(runs: number[], number: number): void {
  if (!hasNumber(runs, number)) flip(runs, number);
}

export function removeNumber(runs: number[], number: number): void {
  if (hasNumber(runs, number)) flip(runs, number);
}

/** The size of the set. */
export function sizeOfRuns(runs: Runs): number {
  return runs.reduce((size, bound, index) => size + (index % 2 === 0 ? -bound : bound), 0);
}

/** Those that are not below the given number. */
export function numbersFrom(runs: Runs, number: number): number[] {
  const place = placeBehind(runs, number);
  return place % 2 === 1 ? [number, ...runs.slice(place)] : runs.slice(place);
}

/** Checks input from outside: the bounds increase, runs do not touch, and all are below the limit. */
export function areRuns(numbers: readonly number[], limit: number): boolean {
  const rise = numbers.every((number, index) => Number.isSafeInteger(number) && number > (numbers[index - 1] ?? -1));
  return rise && numbers.length % 2 === 0 && (numbers.at(-1) ?? 0) <= limit;
}

/** Toggles one bound of a number: an existing bound is removed, because two runs touch there. */
function flip(runs: number[], number: number): void {
  for (const bound of [number, number + 1]) {
    const place = placeBehind(runs, bound - 1);
    if (runs[place] === bound) runs.splice(place, 1);
    else runs.splice(place, 0, bound);
  }
}

/** How many bounds are at or before the number. */
function placeBehind(runs: Runs, number: number): number {
  return countBefore(runs, (bound) => bound <= number);
}
