/** In the folder of a feed's results: files that are written. */
export const UNFINISHED_RESULTS = "_temporary";

/** The results of a split: by their names they stand in the order of the splits. */
export function partName(split: number): string {
  return `part-${String(split).padStart(7, "0")}`;
}
