import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync, truncateSync, writeSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { closedLogName, parseLogFileName, UNFINISHED } from "./job/closed-log.ts";
import type { JobSpec } from "./job/spec.ts";
import { readRange, sizeOf } from "./local-files.ts";

export interface LogLimits {
  /** At which a file is closed. */
  readonly maxBytes: number;
  /** How many closed ones are kept. */
  readonly maxFiles: number;
}

export function logLimitsOf({ logs }: Pick<JobSpec, "logs">): LogLimits {
  return { maxBytes: logs.maxSizeMiB * 1_048_576, maxFiles: logs.maxFiles };
}

interface ClosedLog {
  readonly file: string;
  readonly start: number;
  readonly bytes: number;
}

const CHUNK_BYTES = 1_048_576;

/**
 * A log in a container's log folder that cannot fill the disk: what was closed lies beside the file that is written to
 * (src/job/closed-log.ts). Offsets count from the first byte that was ever written. Writers append to the one file all the time, so that
 * they may be programs that know nothing of it.
 */
export class RotatingLog {
  /** Where it is written to. */
  readonly file: string;
  /** Oldest first. */
  #closed: ClosedLog[];
  /** The byte at which the file that is written to begins. */
  #start: number;
  #isClosing = false;

  constructor(file: string) {
    this.file = file;
    this.#closed = closedBeside(file);
    const last = this.#closed.at(-1);
    this.#start = last === undefined ? 0 : last.start + last.bytes;
  }

  /** How many bytes were ever written. */
  get sizeBytes(): number {
    return this.#start + sizeOf(this.file);
  }

  /** The first byte from an offset on that is still there. YARN removes what it has stored while the job runs. */
  firstFrom(offset: number): number {
    const kept = this.#closed.find(({ file, start, bytes }) => start + bytes > offset && sizeOf(file) === bytes);
    return Math.max(offset, kept?.start ?? this.#start);
  }

  /** At most so many bytes from an offset on; fewer where a file ends. Throws the system's error, as where nothing is any more. */
  read(offset: number, bytes: number): Buffer {
    const closed = this.#closed.find(({ start, bytes: all }) => offset < start + all);
    const { file, start } = closed ?? { file: this.file, start: this.#start };
    return readRange(file, offset - start, bytes);
  }

  /**
   * Closes the file if it has grown to its limit, and removes the oldest ones beyond their number. A disk that is full leaves it as it is,
   * until it is tried again.
   * @param whileStill does something at once, at a moment at which nobody writes to the file; it may leave that out
   */
  async rotate(limits: LogLimits, whileStill: (work: () => void) => Promise<void> | void): Promise<void> {
    if (this.#isClosing || sizeOf(this.file) < limits.maxBytes) return;
    this.#isClosing = true;
    const closed = closedLogName(this.file, this.#start);
    const unfinished = closed + UNFINISHED;
    try {
      this.#removeOldest(limits.maxFiles - 1);
      // Most of it while the writers go on; they are held up for the rest only.
      await copyFile(this.file, unfinished);
      await whileStill(() => this.#close(unfinished, closed));
    } catch {
      // The log goes on in its file.
    } finally {
      rmSync(unfinished, { force: true });
      this.#isClosing = false;
    }
  }

  #close(unfinished: string, closed: string): void {
    const bytes = appendRest(this.file, unfinished);
    renameSync(unfinished, closed);
    truncateSync(this.file);
    this.#closed.push({ file: closed, start: this.#start, bytes });
    this.#start += bytes;
  }

  #removeOldest(kept: number): void {
    for (const { file } of this.#closed.splice(0, Math.max(0, this.#closed.length - kept)))
      rmSync(file, { force: true });
  }
}

/** What an earlier writer closed. */
function closedBeside(file: string): ClosedLog[] {
  const folder = path.dirname(file);
  return namesIn(folder).flatMap((name) => {
    const { log, start } = parseLogFileName(name);
    if (log !== path.basename(file) || start === undefined) return [];
    const closed = path.join(folder, name);
    return [{ file: closed, start, bytes: sizeOf(closed) }];
  });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Adds to a copy what has come to its source since. @returns the size of both */
function appendRest(source: string, copy: string): number {
  const descriptor = openSync(copy, "a");
  try {
    let size = fstatSync(descriptor).size;
    for (;;) {
      const rest = readRange(source, size, CHUNK_BYTES);
      if (rest.length === 0) return size;
      for (let written = 0; written < rest.length; ) written += writeSync(descriptor, rest, written);
      size += rest.length;
    }
  } finally {
    closeSync(descriptor);
  }
}
