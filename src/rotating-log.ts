import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync, truncateSync, writeSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { closedLogName, parseLogFileName, UNFINISHED } from "./job/closed-log.ts";
import type { JobSpec } from "./job/spec.ts";
import { readRange, sizeOf } from "./local-files.ts";

export interface LogLimits {
  /** The size at which a file is closed. */
  readonly maxBytes: number;
  /** How many closed files are kept. */
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
 * A log in a container's log folder that cannot fill the disk: closed files lie beside the one being written (src/job/closed-log.ts).
 * Offsets count from the first byte ever written. Writers only ever append to that one file, so even programs that know nothing of the
 * rotation can write to it.
 */
export class RotatingLog {
  /** The file being written. */
  readonly file: string;
  /** Oldest first. */
  #closed: ClosedLog[];
  /** The offset in the whole log at which the file being written begins. */
  #start: number;
  #isClosing = false;

  constructor(file: string) {
    this.file = file;
    this.#closed = closedBeside(file);
    const last = this.#closed.at(-1);
    this.#start = last === undefined ? 0 : last.start + last.bytes;
  }

  /** How many bytes have ever been written. */
  get sizeBytes(): number {
    return this.#start + sizeOf(this.file);
  }

  /** The first byte at or after an offset that still exists. YARN removes files that it has stored while the job runs. */
  firstFrom(offset: number): number {
    const kept = this.#closed.find(({ file, start, bytes }) => start + bytes > offset && sizeOf(file) === bytes);
    return Math.max(offset, kept?.start ?? this.#start);
  }

  /** At most `bytes` bytes from an offset; fewer where a file ends. Throws the system's error, also for bytes that no longer exist. */
  read(offset: number, bytes: number): Buffer {
    const closed = this.#closed.find(({ start, bytes: all }) => offset < start + all);
    const { file, start } = closed ?? { file: this.file, start: this.#start };
    return readRange(file, offset - start, bytes);
  }

  /**
   * Closes the file if it has grown to its limit, and removes the oldest closed files beyond their number. When the disk is full, the file
   * stays as it is until the next try.
   * @param whileStill runs a synchronous function at a moment at which nobody writes to the file; it may decline to run it
   */
  async rotate(limits: LogLimits, whileStill: (work: () => void) => Promise<void> | void): Promise<void> {
    if (this.#isClosing || sizeOf(this.file) < limits.maxBytes) return;
    this.#isClosing = true;
    const closed = closedLogName(this.file, this.#start);
    const unfinished = closed + UNFINISHED;
    try {
      this.#removeOldest(limits.maxFiles - 1);
      // Most of the file is copied while the writers continue; they pause only for the rest.
      await copyFile(this.file, unfinished);
      await whileStill(() => this.#close(unfinished, closed));
    } catch {
      // Without the copy, the log continues in its file.
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

/** The files that an earlier writer closed. */
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

/** Appends to a copy what its source has gained since. @returns the size of both */
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
