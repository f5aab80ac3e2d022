import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { LogStream, OutputStream } from "../src/api/messages.ts";
import { OUTPUT_INDEX } from "../src/job/output-index.ts";

/** Enough for the last lines and a deep traceback. */
const TAIL_BYTES = 131_072;

/**
 * Where a container's log folder keeps what the program writes; YARN serves and aggregates it under these names.
 * @param logPrefix see ExecutorSettings
 */
export function outputFile(logPrefix: string, stream: LogStream): string {
  return `${logPrefix}${stream === "index" ? OUTPUT_INDEX : stream}`;
}

/** The files of one run, open for the program to write to. They begin with what earlier runs wrote. */
export interface OutputFiles {
  readonly stdout: number;
  readonly stderr: number;
  close(): void;
  /** The last part of what this run wrote. */
  tail(stream: OutputStream): string;
}

export function openOutputFiles(logPrefix: string): OutputFiles {
  const open = (stream: OutputStream) => {
    const file = outputFile(logPrefix, stream);
    const descriptor = openSync(file, "a");
    return { file, descriptor, start: fstatSync(descriptor).size };
  };
  const files = { stdout: open("stdout"), stderr: open("stderr") };
  return {
    stdout: files.stdout.descriptor,
    stderr: files.stderr.descriptor,
    close() {
      closeSync(files.stdout.descriptor);
      closeSync(files.stderr.descriptor);
    },
    tail: (stream) => readTail(files[stream].file, files[stream].start),
  };
}

/** The last bytes of a file, none before `start`, as text; an incomplete character at the front is dropped. */
function readTail(file: string, start: number): string {
  try {
    const size = statSync(file).size;
    const from = Math.max(start, size - TAIL_BYTES);
    return readRange(file, from, size - from)
      .toString("utf8")
      .replace(/^\uFFFD+/, "");
  } catch {
    return "";
  }
}

/** 0 while the file does not exist. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** At most so many bytes from an offset; fewer at the end of the file. Throws the system's error. */
export function readRange(file: string, offset: number, bytes: number): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const buffer = Buffer.allocUnsafe(Math.max(0, bytes));
    return buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, offset));
  } finally {
    closeSync(descriptor);
  }
}
