import { pipeline, Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { createGunzip } from "node:zlib";
import { TonyError } from "../../src/errors.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { OpenOptions } from "../../src/hadoop/hdfs/file-system.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { type Cut, isPacked } from "../../src/job/feeds/cut.ts";
import type { InputFile } from "../../src/job/feeds/listing.ts";
import type { Split } from "../../src/job/feeds/plan.ts";
import { boundedLines } from "./row-limit.ts";
import { checkedRecords } from "./tfrecord.ts";

const NEWLINE = 10;
/** The pauses between tries: enough for a NameNode that is away for two minutes. */
const PAUSES_MS = [250, 1_000, 4_000, ...Array<number>(9).fill(15_000)];

/** Waits that long because of the error; rejects where there is no time to wait. */
export type Pause = (ms: number, why: unknown) => Promise<unknown>;

/**
 * The bytes of a split; in a file of lines, those that begin in it, whole. Throws a TonyError (`FEED_FILE_CHANGED`) where the file is not
 * the one that the plan was made from, and as the file system.
 */
export async function* readSplit(
  place: LocatedPath,
  { file, start, end }: Split,
  cut: Cut,
  pause: Pause = sleep,
): AsyncGenerator<Buffer, void> {
  const { fileSystem, path } = place;
  const now = await persistently(() => ifThere(fileSystem.stat(path)), pause);
  if (now?.lengthBytes !== file.length || now.modificationTimeMs !== file.modifiedMs) {
    const what = now === undefined ? "is gone" : "has changed";
    throw new TonyError(`${file.path} ${what} since it was looked up for this feed, and is not read`, {
      code: "FEED_FILE_CHANGED",
    });
  }
  const read = (offset: number, length = file.length - offset) =>
    bytesOf(place, { offset, lengthBytes: length }, pause);
  if (cut.format === "tfrecord")
    yield* checkedRecords(isPacked(cut, path) ? unpacked(read(0), file) : read(0), file.path);
  else if (isPacked(cut, path)) yield* boundedLines(unpacked(read(0), file), file.path);
  else if (cut.format === "lines") yield* boundedLines(linesOf(read(Math.max(0, start - 1)), start, end), file.path);
  else yield* read(start, end - start);
}

async function* unpacked(packed: AsyncIterable<Buffer>, { path }: InputFile): AsyncGenerator<Buffer, void> {
  try {
    yield* pipeline(Readable.from(packed), createGunzip(), () => {});
  } catch (error) {
    if (!String(errorCode(error)).startsWith("Z_")) throw error;
    throw new TonyError(`${path} is damaged: ${errorMessage(error)}`, { code: "FEED_FILE_DAMAGED", cause: error });
  }
}

/** A read that breaks off is continued, as long as that may help. */
async function* bytesOf(
  { fileSystem, path }: LocatedPath,
  { offset, lengthBytes }: Required<Pick<OpenOptions, "offset" | "lengthBytes">>,
  pause: Pause,
): AsyncGenerator<Buffer, void> {
  let read = 0;
  const patience = new Patience(pause);
  while (read < lengthBytes) {
    try {
      const source = await fileSystem.open(path, { offset: offset + read, lengthBytes: lengthBytes - read });
      for await (const chunk of source) {
        read += chunk.length;
        if (chunk.length > 0) patience.renew();
        yield chunk;
      }
      return;
    } catch (error) {
      await patience.await(error);
    }
  }
}

/** Failed work is retried, as long as that may help. */
export async function persistently<T>(work: () => Promise<T>, pause: Pause): Promise<T> {
  const patience = new Patience(pause);
  while (true) {
    try {
      return await work();
    } catch (error) {
      await patience.await(error);
    }
  }
}

/** How long to wait for something that is away. */
class Patience {
  readonly #pause: Pause;
  #failures = 0;

  constructor(pause: Pause) {
    this.#pause = pause;
  }

  renew(): void {
    this.#failures = 0;
  }

  /** Waits before the next try. @throws the error where there is to be no further try */
  async await(error: unknown): Promise<void> {
    const pauseMs = PAUSES_MS[this.#failures];
    if (!mayPass(error) || pauseMs === undefined) throw error;
    this.#failures += 1;
    await this.#pause(pauseMs, error);
  }
}

/** Whether the network was at fault, or something that is away for a while. */
export function mayPass(error: unknown): boolean {
  return error instanceof CodedError && error.retryable;
}

/** @param source from the byte before `start` on: if it is a newline, a line begins at `start` */
async function* linesOf(source: AsyncIterable<Buffer>, start: number, end: number): AsyncGenerator<Buffer, void> {
  let position = Math.max(0, start - 1);
  let isOurs = start === 0;
  for await (const chunk of source) {
    const first = isOurs ? 0 : chunk.indexOf(NEWLINE) + 1;
    isOurs ||= first > 0 && position + first < end;
    const behind = position + chunk.length;
    if (!isOurs && (first > 0 || behind >= end)) return;
    if (isOurs) {
      // The newline at the last byte of the split, or the first one behind it, ends its last line.
      const last = chunk.indexOf(NEWLINE, Math.max(first, end - 1 - position));
      const isEnd = last >= 0 && position + last >= end - 1;
      yield chunk.subarray(first, isEnd ? last + 1 : chunk.length);
      if (isEnd) return;
    }
    position = behind;
  }
}
