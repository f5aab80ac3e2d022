/**
 * The number of entries at the beginning of a sorted list, by binary search.
 * @param isBefore true for those entries, and for none after them
 */
export function countBefore<T>(sorted: readonly T[], isBefore: (entry: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = sorted[middle];
    if (entry !== undefined && isBefore(entry)) low = middle + 1;
    else high = middle;
  }
  return low;
}
