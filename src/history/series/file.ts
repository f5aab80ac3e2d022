import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGzip, gunzipSync } from "node:zlib";
import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { amount, arrayOf, count, literal, object, type Shape, ShapeError, string } from "../../job/shape.ts";
import { parseLine } from "../json-lines.ts";
import { seriesRules } from "./ring.ts";
import { isOfOneGpu, type SeriesTable, type TaskSeries } from "./table.ts";

/** In a job's history folder. */
export const seriesFile = "series.jsonl.gz";

/** Raised when a reader of the previous version could misunderstand a line. */
const SERIES_VERSION = 1;
/** A measurement needs no more digits than a chart has pixels; counts stay exact. */
const DIGITS = 4;
/** Uncompressed; the measurements of a job with 10,000 tasks take a sixth of that. */
export const MOST_SERIES_BYTES = 128 * 2 ** 20;

/** The time axis of all series: the span `n` begins `n * spanMs` after `fromMs`. */
export interface SeriesAxis {
  readonly seriesVersion: typeof SERIES_VERSION;
  readonly applicationId: string;
  /** The attempt of the ApplicationMaster that wrote them; they include what earlier attempts received. */
  readonly attempt: number;
  readonly fromMs: number;
  readonly spanMs: number;
}

/** One line: a task with its columns. */
export interface SeriesRow {
  readonly task: string;
  /** The memory limit of its container. */
  readonly memoryLimitBytes: number;
  readonly series: readonly TaskSeries[];
}

export interface JobSeries {
  readonly axis: SeriesAxis;
  readonly rows: readonly SeriesRow[];
}

/**
 * The file: JSON, one line for the axis and one for each task, compressed. It yields to other work between tasks.
 * @param tasks in the order of their lines
 */
export async function encodeSeries(
  { applicationId, attempt }: Pick<SeriesAxis, "applicationId" | "attempt">,
  table: SeriesTable,
  memoryLimitBytesOf: (task: string) => number,
  tasks: readonly string[] = table.tasks,
): Promise<Buffer> {
  const { fromMs, spanMs } = table;
  const axis: SeriesAxis = { seriesVersion: SERIES_VERSION, applicationId, attempt, fromMs, spanMs };
  const lines = function* () {
    yield `${JSON.stringify(axis)}\n`;
    for (const task of tasks) {
      const series = table.seriesOf(task).map((one) => {
        return { ...one, values: one.values.map(isOfOneGpu(one.name) ? whole : rounded) };
      });
      yield `${JSON.stringify({ task, memoryLimitBytes: memoryLimitBytesOf(task), series } satisfies SeriesRow)}\n`;
    }
  };
  return await pipeline(Readable.from(lines()), createGzip({ level: 9 }), buffer);
}

/** @throws TonyError (`SERIES_UNREADABLE`) if a file is not one of ours, is truncated, or is of another version */
export function decodeSeries(file: Uint8Array): JobSeries {
  try {
    const text = gunzipSync(file, { maxOutputLength: MOST_SERIES_BYTES }).toString("utf8");
    const [first = "", ...rest] = text.split("\n").slice(0, -1);
    return {
      axis: readAxis(parseLine(first), "line 1"),
      rows: rest.map((line, index) => readRow(parseLine(line), `line ${index + 2}`)),
    };
  } catch (cause) {
    const message = `the series of the job cannot be read: ${errorMessage(cause)}`;
    throw new TonyError(message, { code: "SERIES_UNREADABLE", cause });
  }
}

function rounded(value: number | null): number | null {
  return value === null || Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}

const whole = (value: number | null) => value && Math.round(value);

const readValue: Shape<number | null> = (value, where) => (value === null ? null : amount(value, where));
const readSpanMs: Shape<number> = (value, where) => {
  const spanMs = count(value, where);
  if (spanMs === 0) throw new ShapeError(`${where} must be more than 0`);
  return spanMs;
};
const readAxis = object<SeriesAxis>({
  required: {
    seriesVersion: literal(SERIES_VERSION),
    applicationId: string,
    attempt: count,
    fromMs: count,
    spanMs: readSpanMs,
  },
  optional: {},
});
const readRow = object<SeriesRow>({
  required: {
    task: string,
    memoryLimitBytes: count,
    series: arrayOf(
      object<TaskSeries>({
        required: { name: string, rule: literal(...seriesRules), first: count, values: arrayOf(readValue) },
        optional: {},
      }),
    ),
  },
  optional: {},
});
