import { Readable } from "node:stream";
import type { OutputStream } from "../api/messages.ts";
import type { ContainerId } from "../hadoop/yarn/records.ts";
import { parseLogFileName } from "../job/closed-log.ts";
import { OUTPUT_INDEX, parseMarks } from "../job/output-index.ts";
import type { StoredLog, StoredLogs } from "./log-store.ts";
import type { Tenancy } from "./master-log.ts";
import type { OutputPiece, OutputSource } from "./ordered-output.ts";
import { executorLog } from "./own-log.ts";

/**
 * What a task printed in one container. The index is read first, and then each stream as needed, so that neither has to be buffered.
 * @param wanted the other stream is not read, and is empty; undefined: both are read
 */
export async function storedOutput(
  store: StoredLogs,
  { containerId, logPrefix }: Tenancy,
  wanted?: OutputStream,
): Promise<OutputSource> {
  const marks = parseMarks(await indexText(store, containerId, logPrefix + OUTPUT_INDEX));
  const last = marks.at(-1);
  return {
    marks,
    open: (stream, offset) => {
      if (wanted !== undefined && stream !== wanted) return Readable.from([]);
      const writtenBytes = stream === "stdout" ? last?.stdoutBytes : last?.stderrBytes;
      return wholeLog(store, { containerId, log: logPrefix + stream, writtenBytes }, offset);
    },
  };
}

/** The log of a task's executor in one container. */
export function storedExecutorLog(store: StoredLogs, { containerId, logPrefix }: Tenancy): AsyncIterable<OutputPiece> {
  return wholeLog(store, { containerId, log: logPrefix + executorLog, writtenBytes: undefined }, 0);
}

export interface LogOfContainer {
  readonly containerId: ContainerId;
  /** The name of the log's current file, without closed files. */
  readonly log: string;
}

interface WantedLog extends LogOfContainer {
  /** As far as it is known; undefined if it is not. */
  readonly writtenBytes: number | undefined;
}

/**
 * A log from an offset: its closed files, and then the file that was last written to. Stores list the closed files in order, but that file
 * before them: what follows them is read in a second pass.
 */
async function* wholeLog(store: StoredLogs, wanted: WantedLog, offset: number): AsyncGenerator<OutputPiece> {
  const { containerId, log, writtenBytes = Number.POSITIVE_INFINITY } = wanted;
  let end = 0;
  let sawLast = false;
  for await (const file of store.logs((id) => id === containerId)) {
    const { log: name, start } = parseLogFileName(file.name);
    if (name !== log) continue;
    if (start === undefined) {
      sawLast = true;
      if (file.lengthBytes < writtenBytes) continue;
      yield* piecesOf(file, 0, offset);
      return;
    }
    // A file that was stored twice is read once.
    if (start < end) continue;
    yield* piecesOf(file, start, offset);
    end = start + file.lengthBytes;
  }
  if (!sawLast) return;
  for await (const file of store.logs((id) => id === containerId)) {
    if (file.name !== log) continue;
    yield* piecesOf(file, end, offset);
    return;
  }
}

/** A log's closed files that begin between two of its bytes, in the order of the log, as stores list them. */
export async function* closedOutput(
  store: StoredLogs,
  { containerId, log }: LogOfContainer,
  from: number,
  to: number,
): AsyncGenerator<OutputPiece> {
  let end = 0;
  for await (const file of store.logs((id) => id === containerId)) {
    const { log: name, start } = parseLogFileName(file.name);
    // A file that was stored twice is read once.
    if (name !== log || start === undefined || start < end) continue;
    if (start >= to) return;
    yield* piecesOf(file, start, from);
    end = start + file.lengthBytes;
  }
}

/** Omits the bytes before an offset. */
async function* piecesOf(
  { content, lengthBytes }: StoredLog,
  start: number,
  from: number,
): AsyncGenerator<OutputPiece> {
  if (start + lengthBytes <= from) return;
  let at = start;
  for await (const piece of content) {
    const data = piece.subarray(Math.max(0, from - at));
    if (data.byteLength > 0) yield { offset: at + piece.byteLength - data.byteLength, data };
    at += piece.byteLength;
  }
}

/** The index's closed files are in earlier stored files, or after the file that was last written to. */
async function indexText(store: StoredLogs, containerId: ContainerId, index: string): Promise<string> {
  const closed = new Map<number, string>();
  let last: string | undefined;
  for await (const file of store.logs((id) => id === containerId)) {
    const { log, start } = parseLogFileName(file.name);
    // Its content has to be read before the loop leaves the file that contains it.
    if (log === index && start === undefined) last = await readText(file);
    else if (log === index && start !== undefined) closed.set(start, await readText(file));
    else if (last !== undefined) break;
  }
  return [...closed.values(), last ?? ""].join("");
}

export async function readText({ content }: StoredLog): Promise<string> {
  const bytes: Uint8Array[] = [];
  for await (const piece of content) bytes.push(piece);
  return Buffer.concat(bytes).toString("utf8");
}
