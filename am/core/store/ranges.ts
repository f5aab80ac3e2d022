import type { Entry, Range } from "../../../src/job/store/transaction.ts";

/** Where the key is in the sorted list, or would be. */
export function placeOf(entries: readonly Entry[], key: string): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((entries[middle]?.key ?? "") < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of the sorted list that the range holds. */
export function placesOf(entries: readonly Entry[], { from, to }: Range): readonly [number, number] {
  const first = placeOf(entries, from);
  return [first, to === undefined ? entries.length : Math.max(first, placeOf(entries, to))];
}
