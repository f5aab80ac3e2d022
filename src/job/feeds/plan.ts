import { randomNumbers } from "../search/random-numbers.ts";
import { countBefore } from "../sorted.ts";
import { type Cut, splitCount, splitLength } from "./cut.ts";
import type { InputFile, Listing } from "./listing.ts";

/** A part of a file, from `start` up to, but not including, `end`. */
export interface Split {
  readonly file: InputFile;
  readonly start: number;
  readonly end: number;
}

/** The splits of a feed, numbered from 0: the splits of a file are consecutive, and files are in the order of their paths. */
export interface Plan {
  readonly cut: Cut;
  readonly files: Listing;
  /** The number of each file's first split, followed by the number after the last split. */
  readonly firsts: readonly number[];
  readonly splits: number;
  readonly bytes: number;
}

export function planOf(files: Listing, cut: Cut): Plan {
  const firsts = [0];
  let [splits, bytes] = [0, 0];
  for (const { path, length } of files) {
    splits += splitCount(length, splitLength(cut, path));
    bytes += length;
    firsts.push(splits);
  }
  return { cut, files, firsts, splits, bytes };
}

/** The plan extended by files that were added later: their splits get the next numbers, in the order of their paths. */
export function planWith({ cut, files, firsts, splits, bytes }: Plan, later: Listing): Plan {
  const added = planOf(later, cut);
  return {
    cut,
    files: files.followedBy(later),
    firsts: [...firsts, ...added.firsts.slice(1).map((first) => first + splits)],
    splits: splits + added.splits,
    bytes: bytes + added.bytes,
  };
}

/**
 * The modification time of the oldest file that is not used up, among those at or after a place in the order of the splits; where there is none, a
 * millisecond after that of the newest file. Undefined: there are no files.
 */
export function watermarkOf({ files, firsts }: Plan, unfinished: number): number | undefined {
  if (files.size === 0) return undefined;
  let [place, oldest, last] = [0, Number.POSITIVE_INFINITY, 0];
  for (const { modifiedMs } of files) {
    if ((firsts[place] ?? 0) >= unfinished) oldest = Math.min(oldest, modifiedMs);
    last = Math.max(last, modifiedMs);
    place += 1;
  }
  return Number.isFinite(oldest) ? oldest : last + 1;
}

/** Undefined where the plan has no such split. */
export function splitAt({ cut, files, firsts, splits }: Plan, number: number): Split | undefined {
  if (number < 0 || number >= splits) return undefined;
  // A file without splits has the same bound as the next one.
  const place = countBefore(firsts, (first) => first <= number) - 1;
  const [file, first = 0, behind] = [files.at(place), firsts[place], firsts[place + 1]];
  if (file === undefined) return undefined;
  const length = splitLength(cut, file.path) ?? file.length;
  const start = (number - first) * length;
  return { file, start, end: number + 1 === behind ? file.length : start + length };
}

/** The subfolder, in the folder of a feed's results, for files that are being written. */
export const UNFINISHED_RESULTS = "_temporary";

/** The file with the results of a split: names sort in the order of the splits. */
export function partName(split: number): string {
  return `part-${String(split).padStart(7, "0")}`;
}

/**
 * The order in which an epoch hands out its splits: a function of their number, the seed and the epoch, and of nothing else. A Fisher–Yates
 * shuffle; without a seed it is the order of the plan.
 */
export function orderOf(splits: number, seed: number | undefined, epoch: number): Uint32Array {
  const order = Uint32Array.from({ length: splits }, (_, index) => index);
  if (seed === undefined) return order;
  const random = randomNumbers(seed, "epoch", epoch);
  for (let last = splits - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}
