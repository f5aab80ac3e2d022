import type { LogReader } from "../../src/api/client-endpoint.ts";
import type { LogWanted, OutputStream } from "../../src/api/messages.ts";

/** The position from which a page wants a log. */
export interface Reading {
  /** `worker:0`; `am`: the ApplicationMaster's own log. */
  readonly task: string;
  readonly stream: OutputStream;
  /** Negative: that many bytes before the end. */
  readonly offset: number;
}

/** What the log has from there on, up to the end of a line. */
export interface LogPart extends Pick<Reading, "task" | "stream"> {
  /** Where the next reading begins. */
  readonly next: number;
  readonly text: string;
  /** Bytes that were removed before this text could be read. */
  readonly missingBytes: number;
  /** Why there is nothing, or no more. */
  readonly trouble?: string;
}

export type ReadLog = (request: LogWanted, reader: LogReader) => () => void;

export const MOST_READINGS = 32;
/** All parts of one answer together. */
export const MOST_PART_BYTES = 262_144;
/** An executor that is stopped or cut off does not answer. */
const LONGEST_MS = 5_000;

const READING = /^([a-z][a-z0-9-]{0,99}:\d{1,9}|am)~(stdout|stderr)~(-?\d{1,15})$/;

/** `worker:0~stdout~-8192,worker:1~stdout~512`; undefined for what no page of ours asks. */
export function parseReadings(text: string): readonly Reading[] | undefined {
  const words = text.split(",");
  const readings = words.flatMap((word): Reading[] => {
    const [, task = "", stream, offset] = READING.exec(word) ?? [];
    return stream === "stdout" || stream === "stderr" ? [{ task, stream, offset: Number(offset) }] : [];
  });
  return readings.length === words.length && words.length <= MOST_READINGS ? readings : undefined;
}

/** Reads as much of each log as all of them have room for in one answer. */
export async function readParts(
  readings: readonly Reading[],
  readLog: ReadLog,
  longestMs = LONGEST_MS,
): Promise<LogPart[]> {
  const most = Math.floor(MOST_PART_BYTES / readings.length);
  return await Promise.all(readings.map((reading) => readPart(reading, readLog, most, longestMs)));
}

async function readPart(reading: Reading, readLog: ReadLog, most: number, longestMs: number): Promise<LogPart> {
  const { task, stream, offset } = reading;
  const { from, data, missingBytes, trouble } = await collected(reading, readLog, most, longestMs);
  const [begin, end] = wholeLines(data, offset < 0 && from > 0);
  return {
    ...{ task, stream, next: from + end, text: data.toString("utf8", begin, end), missingBytes },
    ...(trouble === undefined ? {} : { trouble }),
  };
}

interface Collected {
  /** Offset of the first byte. */
  readonly from: number;
  readonly data: Buffer;
  readonly missingBytes: number;
  readonly trouble: string | undefined;
}

function collected(reading: Reading, readLog: ReadLog, most: number, longestMs: number): Promise<Collected> {
  const { task, stream, offset } = reading;
  const pieces: Uint8Array[] = [];
  let [from, bytes, missingBytes] = [Math.max(offset, 0), 0, 0];
  return new Promise((resolve) => {
    let stop: () => void = () => undefined;
    const over = (trouble?: string) => {
      clearTimeout(timer);
      stop();
      resolve({ from, data: Buffer.concat(pieces).subarray(0, most), missingBytes, trouble });
    };
    const timer = setTimeout(() => over(`${task} does not answer`), longestMs).unref();
    const reader: LogReader = {
      async send({ offset: at, data, skippedBytes, end }) {
        if (pieces.length === 0) from = at;
        pieces.push(data);
        bytes += data.length;
        missingBytes += skippedBytes;
        if (end || bytes >= most) over();
      },
      fail: over,
    };
    stop = readLog({ task, stream, offset: Math.max(offset, -most), follow: false }, reader);
  });
}

const LINE_ENDS = [0x0a, 0x0d];

/** Without an incomplete line at the end, and the rest of a line at the beginning; a line longer than the data is cut. */
function wholeLines(data: Buffer, beginsWithin: boolean): readonly [number, number] {
  const end = Math.max(...LINE_ENDS.map((sign) => data.lastIndexOf(sign))) + 1 || data.length;
  const begin = beginsWithin ? data.indexOf("\n") + 1 : 0;
  return [Math.min(begin, end), end];
}
