import type { Entry, Range } from "./records.ts";

/** All keys that begin so. */
export function withPrefix(prefix: string): Range {
  for (let length = prefix.length; length > 0; length -= 1) {
    const last = prefix.charCodeAt(length - 1);
    if (last < 0xffff) return { from: prefix, to: prefix.slice(0, length - 1) + String.fromCharCode(last + 1) };
  }
  return { from: prefix };
}

/** That key alone: no other one comes before the same with a NUL behind it. */
export function onlyKey(key: string): Range {
  return { from: key, to: `${key}\0` };
}

export function isIn(key: string, { from, to }: Range): boolean {
  return key >= from && (to === undefined || key < to);
}

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
