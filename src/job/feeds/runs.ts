import { countBefore } from "../sorted.ts";

/**
 * A set of whole numbers, as the places where it begins and ends: `[2, 5, 9, 10]` holds 2, 3, 4 and 9. What is used of a feed is a few runs,
 * however many splits it has, for splits are handed out in order.
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

/** How many numbers it holds. */
export function sizeOfRuns(runs: Runs): number {
  return runs.reduce((size, bound, index) => size + (index % 2 === 0 ? -bound : bound), 0);
}

/** Those that are not below the number. */
export function numbersFrom(runs: Runs, number: number): number[] {
  const place = placeBehind(runs, number);
  return place % 2 === 1 ? [number, ...runs.slice(place)] : runs.slice(place);
}

/** Of what came from outside: runs that rise, do not touch, and are below the limit. */
export function areRuns(numbers: readonly number[], limit: number): boolean {
  const rise = numbers.every((number, index) => Number.isSafeInteger(number) && number > (numbers[index - 1] ?? -1));
  return rise && numbers.length % 2 === 0 && (numbers.at(-1) ?? 0) <= limit;
}

/** A number goes in or out by its two bounds: one that is there already goes, for two runs touch at it. */
function flip(runs: number[], number: number): void {
  for (const bound of [number, number + 1]) {
    const place = placeBehind(runs, bound - 1);
    if (runs[place] === bound) runs.splice(place, 1);
    else runs.splice(place, 0, bound);
  }
}

/** How many bounds are at the number or before it. */
function placeBehind(runs: Runs, number: number): number {
  return countBefore(runs, (bound) => bound <= number);
}
