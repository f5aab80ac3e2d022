import type { OutputStream, ReadableStream } from "../api/messages.ts";
import type { OutputMark } from "../job/output-index.ts";
import { LineSplitter, mayMatch } from "./line-splitter.ts";

/** One line that a program wrote, with generation and time if the index gives them. */
export interface OutputLine {
  readonly stream: ReadableStream;
  readonly line: string;
  readonly generation?: number;
  /** The line was written by this time. */
  readonly atMs?: number;
}

/** The output of one container's programs. */
export interface OutputSource {
  readonly marks: readonly OutputMark[];
  /** From that byte, or from the first later one that still exists. */
  readonly open: (stream: OutputStream, offset: number) => AsyncIterable<OutputPiece>;
}

/** A part of a stream; a gap between two parts is lost data. */
export interface OutputPiece {
  readonly offset: number;
  readonly data: Uint8Array;
}

/** Which lines are wanted. */
export interface LineFilter {
  /** Only that many last lines. */
  readonly tail?: number;
  readonly sinceMs?: number;
  readonly generation?: number;
  /** A pattern that matches anywhere in the line. */
  readonly pattern?: RegExp;
  readonly stream?: OutputStream;
}

/** The output between two marks. */
interface Span {
  readonly from: Sizes;
  readonly to: Sizes;
  readonly generation?: number;
  readonly atMs?: number;
}
type Sizes = Readonly<Record<OutputStream, number>>;

const streams: readonly OutputStream[] = ["stdout", "stderr"];
const nothing: Sizes = { stdout: 0, stderr: 0 };
const everything: Sizes = { stdout: Number.POSITIVE_INFINITY, stderr: Number.POSITIVE_INFINITY };

/**
 * A program's output in the order in which it was written, as far as that is known: between two marks stdout comes first. Without marks all
 * of it is one span of unknown generation and time, which is left out if a generation is requested.
 */
export class OrderedOutput {
  /** The first generation that wrote here; undefined without marks. */
  readonly firstGeneration: number | undefined;
  readonly #source: OutputSource;
  readonly #filter: LineFilter;
  readonly #spans: readonly Span[];
  readonly #ends: Record<OutputStream, number>;
  #missingBytes = 0;

  constructor(source: OutputSource, filter: LineFilter = {}) {
    const { sinceMs = 0, generation } = filter;
    this.#source = source;
    this.#filter = filter;
    this.firstGeneration = source.marks[0]?.generation;
    this.#spans = spansOf(source.marks).filter(
      (span) =>
        (span.atMs === undefined || span.atMs >= sinceMs) &&
        (generation === undefined || span.generation === generation),
    );
    this.#ends = { ...(this.#spans[0]?.from ?? nothing) };
  }

  /** The end of the last complete line that was read from a stream. */
  endOf(stream: OutputStream): number {
    return this.#ends[stream];
  }

  /** How many bytes of what was read no longer exist. */
  get missingBytes(): number {
    return this.#missingBytes;
  }

  /** @param unfinished whether an incomplete last line is wanted too */
  async *lines({ unfinished = true } = {}): AsyncGenerator<OutputLine> {
    const [first] = this.#spans;
    if (first === undefined) return;
    const readers = {
      stdout: new OffsetReader(this.#pieces("stdout", first.from.stdout)),
      stderr: new OffsetReader(this.#pieces("stderr", first.from.stderr)),
    };
    const splitters = { stdout: new LineSplitter(), stderr: new LineSplitter() };
    const mayHold = mayMatch(this.#filter.pattern);
    let before = first;
    for (const span of this.#spans) {
      for (const stream of streams) {
        const at = { stream, ...known(span) };
        if (span.generation !== before.generation) {
          yield* this.#wanted(splitters[stream].end(), { stream, ...known(before) });
        }
        for await (const piece of readers[stream].until(span.to[stream])) {
          const lastEnd = piece.data.lastIndexOf(0x0a);
          if (lastEnd >= 0) this.#ends[stream] = piece.offset + lastEnd + 1;
          yield* this.#wanted(splitters[stream].push(piece.data, mayHold), at);
        }
      }
      before = span;
    }
    if (!unfinished) return;
    for (const stream of streams) yield* this.#wanted(splitters[stream].end(), { stream, ...known(before) });
  }

  /** Filters without a turn of the event loop for each unwanted line: out of millions few may be wanted. */
  #wanted(lines: readonly string[], at: Omit<OutputLine, "line">): OutputLine[] {
    return lines.map((line) => ({ ...at, line })).filter((line) => matches(line, this.#filter));
  }

  async *#pieces(stream: OutputStream, from: number): AsyncGenerator<OutputPiece> {
    let next = from;
    for await (const piece of this.#source.open(stream, from)) {
      this.#missingBytes += Math.max(0, piece.offset - next);
      next = piece.offset + piece.data.byteLength;
      yield piece;
    }
  }
}

/** A span belongs to the generation of the mark before it. */
function spansOf(marks: readonly OutputMark[]): Span[] {
  const spans = marks.map((mark, index): Span => {
    const before = marks[index - 1];
    const { generation } = before ?? mark;
    return { from: before === undefined ? nothing : sizes(before), to: sizes(mark), generation, atMs: mark.atMs };
  });
  const last = marks.at(-1);
  if (last === undefined) return [{ from: nothing, to: everything }];
  return [...spans, { from: sizes(last), to: everything, generation: last.generation }];
}

function sizes({ stdoutBytes, stderrBytes }: OutputMark): Sizes {
  return { stdout: stdoutBytes, stderr: stderrBytes };
}

function known({ generation, atMs }: Span): Pick<OutputLine, "generation" | "atMs"> {
  return { ...(generation === undefined ? {} : { generation }), ...(atMs === undefined ? {} : { atMs }) };
}

/** Reads a stream up to increasing offsets. */
class OffsetReader {
  readonly #pieces: AsyncIterator<OutputPiece>;
  #next: OutputPiece | undefined;

  constructor(pieces: AsyncIterable<OutputPiece>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async *until(end: number): AsyncGenerator<OutputPiece> {
    for (;;) {
      this.#next ??= await this.#following();
      if (this.#next === undefined || this.#next.offset >= end) return;
      const { offset, data } = this.#next;
      const part = data.subarray(0, end - offset);
      this.#next =
        part.byteLength < data.byteLength ? { offset: end, data: data.subarray(part.byteLength) } : undefined;
      yield { offset, data: part };
    }
  }

  async #following(): Promise<OutputPiece | undefined> {
    const next = await this.#pieces.next();
    return next.done === true ? undefined : next.value;
  }
}

/** The last items of a sequence; all of it without a number. */
export async function* lastOf<T>(items: AsyncIterable<T>, count: number | undefined): AsyncGenerator<T> {
  if (count === undefined) {
    yield* items;
    return;
  }
  const kept: T[] = [];
  for await (const item of items) {
    kept.push(item);
    if (kept.length > count) kept.shift();
  }
  yield* kept;
}

/** Whether the line itself is wanted, whatever its time. */
export function matches({ line, stream }: OutputLine, { pattern, stream: wanted }: LineFilter): boolean {
  return (wanted === undefined || stream === wanted) && (pattern === undefined || pattern.test(line));
}
