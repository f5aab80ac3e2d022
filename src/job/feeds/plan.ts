import { countBefore } from "../sorted.ts";
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

/** The plan with files that came later: their splits have the next numbers, by the order of their paths. */
export function planWith({ cut, files, firsts, splits, bytes }: Plan, later: readonly InputFile[]): Plan {
  const added = planOf(later, cut);
  return {
    cut,
    files: [...files, ...added.files],
    firsts: [...firsts, ...added.firsts.slice(1).map((first) => first + splits)],
    splits: splits + added.splits,
    bytes: bytes + added.bytes,
  };
}

/**
 * When the first file was written that is not used up, of those behind a place that splits are in the order of; where there is none, when the last one was,
 * and a millisecond. Undefined: there are no files.
 */
export function watermarkOf({ files, firsts }: Plan, unfinished: number): number | undefined {
  const times = files.map(({ modifiedMs }) => modifiedMs);
  const open = times.filter((_, place) => (firsts[place] ?? 0) >= unfinished);
  if (times.length === 0) return undefined;
  return open.length > 0
    ? open.reduce((least, one) => Math.min(least, one))
    : times.reduce((most, one) => Math.max(most, one)) + 1;
}

/** Undefined where the plan has no such split. */
export function splitAt({ cut, files, firsts, splits }: Plan, number: number): Split | undefined {
  if (number < 0 || number >= splits) return undefined;
  // Of a file without splits the bound is the next one's, too.
  const place = countBefore(firsts, (first) => first <= number) - 1;
  const [file, first = 0, behind] = [files[place], firsts[place], firsts[place + 1]];
  if (file === undefined) return undefined;
  const length = splitLength(cut, file.path) ?? file.length;
  const start = (number - first) * length;
  return { file, start, end: number + 1 === behind ? file.length : start + length };
}
