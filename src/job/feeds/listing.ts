import { arrayOf, count, object, type Shape, ShapeError, string } from "../shape.ts";
import { countBefore } from "../sorted.ts";

/** A file as it was when the plan was made: if it has changed since, it is not read. */
export interface InputFile {
  readonly path: string;
  readonly length: number;
  readonly modifiedMs: number;
}

/** To look up a file, a block of this many is parsed. */
const BLOCK_FILES = 256;

/** Neighbouring files: the common beginning of their paths, and the rest of each. */
interface Block {
  readonly prefix: string;
  readonly rests: readonly string[];
  readonly lengths: readonly number[];
  readonly modifiedMs: readonly number[];
}

const blockShape: Shape<Block> = object<Block>({
  required: { prefix: string, rests: arrayOf(string), lengths: arrayOf(count), modifiedMs: arrayOf(count) },
  optional: {},
});

/**
 * Files in the order of their paths, without duplicates, in about 35 bytes each: blocks are kept as JSON texts, and parsed when one of their files
 * is requested. The listing's own JSON consists of those texts.
 */
export class Listing implements Iterable<InputFile> {
  readonly #blocks: readonly string[];
  /** The number of files before the end of each block. */
  readonly #ends: readonly number[];
  #read: { readonly number: number; readonly files: readonly InputFile[] } | undefined;

  private constructor(blocks: readonly string[], ends: readonly number[]) {
    this.#blocks = blocks;
    this.#ends = ends;
  }

  /** Accepts any order; a file that several globs found appears once. */
  static of(found: Iterable<InputFile>): Listing {
    const byPath = new Map<string, InputFile>();
    for (const file of found) byPath.set(file.path, file);
    const files = [...byPath.values()].sort((left, right) => (left.path < right.path ? -1 : 1));
    const blocks: string[] = [];
    const ends: number[] = [];
    for (let at = 0; at < files.length; at += BLOCK_FILES) {
      const some = files.slice(at, at + BLOCK_FILES);
      blocks.push(JSON.stringify(blockOf(some)));
      ends.push(at + some.length);
    }
    return new Listing(blocks, ends);
  }

  /** Reads the result of toJSON. */
  static readonly shape: Shape<Listing> = (value, where) => {
    const blocks = arrayOf(string)(value, where);
    let files = 0;
    const ends = blocks.map((block, number) => {
      files += readBlock(block, `${where}[${number}]`).length;
      return files;
    });
    return new Listing(blocks, ends);
  };

  toJSON(): readonly string[] {
    return this.#blocks;
  }

  get size(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** Undefined where there is no such file. */
  at(place: number): InputFile | undefined {
    const number = countBefore(this.#ends, (end) => end <= place);
    return this.#filesOf(number)[place - (this.#ends[number - 1] ?? 0)];
  }

  *[Symbol.iterator](): Generator<InputFile> {
    for (const number of this.#blocks.keys()) yield* this.#filesOf(number);
  }

  /** This listing followed by another one, whose paths may sort before. */
  followedBy(later: Listing): Listing {
    const ends = later.#ends.map((end) => this.size + end);
    return new Listing([...this.#blocks, ...later.#blocks], [...this.#ends, ...ends]);
  }

  #filesOf(number: number): readonly InputFile[] {
    if (this.#read?.number !== number) {
      const block = this.#blocks[number];
      this.#read = { number, files: block === undefined ? [] : readBlock(block, "block") };
    }
    return this.#read.files;
  }
}

function blockOf(files: readonly InputFile[]): Block {
  const [first = "", last = ""] = [files[0]?.path, files.at(-1)?.path];
  let same = 0;
  while (same < first.length && first[same] === last[same]) same += 1;
  return {
    prefix: first.slice(0, same),
    rests: files.map(({ path }) => path.slice(same)),
    lengths: files.map(({ length }) => length),
    modifiedMs: files.map(({ modifiedMs }) => modifiedMs),
  };
}

function readBlock(json: string, where: string): readonly InputFile[] {
  const { prefix, rests, lengths, modifiedMs: times } = blockShape(JSON.parse(json), where);
  return rests.map((rest, place) => {
    const [length, modifiedMs] = [lengths[place], times[place]];
    if (length === undefined || modifiedMs === undefined) throw new ShapeError(`${where} must have all of each file`);
    return { path: `${prefix}${rest}`, length, modifiedMs };
  });
}
