import { type Cut, splitCount, splitLength } from "./cut.ts";

/** A file as it was when the plan was made: one that has changed since is not read. */
export interface InputFile {
  readonly path: string;
  readonly length: number;
  readonly modifiedMs: number;
}

/** A part of a file, from `start` on and before `end`. */
export interface Split {
  readonly file: InputFile;
  readonly start: number;
  readonly end: number;
}

/** The splits of a feed, by number from 0 on: those of a file stand together, files in the order of their paths. */
export interface Plan {
  readonly cut: Cut;
  readonly files: readonly InputFile[];
  /** The number of each file's first split, and of the one behind the last. */
  readonly firsts: readonly number[];
  readonly splits: number;
  readonly bytes: number;
}

/** The plan of a listing, whatever order it came in; a file that several globs found is there once. */
export function planOf(listing: readonly InputFile[], cut: Cut): Plan {
  const byPath = new Map(listing.map((file) => [file.path, file]));
  const files = [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
  const firsts = [0];
  for (const { path, length } of files) firsts.push((firsts.at(-1) ?? 0) + splitCount(length, splitLength(cut, path)));
  const bytes = files.reduce((sum, { length }) => sum + length, 0);
  return { cut, files, firsts, splits: firsts.at(-1) ?? 0, bytes };
}

/** Undefined where the plan has no such split. */
export function splitAt({ cut, files, firsts, splits }: Plan, number: number): Split | undefined {
  if (number < 0 || number >= splits) return undefined;
  const place = lastUpTo(firsts, number);
  const [file, first = 0, behind] = [files[place], firsts[place], firsts[place + 1]];
  if (file === undefined) return undefined;
  const length = splitLength(cut, file.path) ?? file.length;
  const start = (number - first) * length;
  return { file, start, end: number + 1 === behind ? file.length : start + length };
}

/** The place of the last bound that is not above the number. Of a file without splits the bound is the next one's, too. */
function lastUpTo(bounds: readonly number[], number: number): number {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
