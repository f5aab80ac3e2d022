import { BUNDLES } from "../../src/job/launch/container-names.ts";
import { logFileOf } from "../../src/job/launch/launch-command.ts";
import { formatMoment } from "../output/format.ts";
import { LineSplitter } from "./line-splitter.ts";
import { type LineFilter, matches, type OutputLine } from "./ordered-output.ts";

/** The file's name, in the log folder of a task's container. */
export const executorLog = logFileOf(BUNDLES.executor);

/** The lines that are wanted of a log of the AM or of an executor. */
export async function* ownLines(
  pieces: AsyncIterable<Uint8Array>,
  stream: OutputLine["stream"],
  filter: LineFilter,
): AsyncGenerator<OutputLine> {
  const splitter = new LineSplitter();
  const wanted = (lines: readonly string[]) =>
    lines.map((line) => ownLine(line, stream)).filter((line) => isWanted(line, filter));
  for await (const data of pieces) yield* wanted(splitter.push(data));
  yield* wanted(splitter.end());
}

/** A line of the log of a program of ours, which is JSON, with its time and generation. */
function ownLine(line: string, stream: OutputLine["stream"]): OutputLine {
  const { time, generation } = fieldsOf(line);
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return {
    stream,
    line,
    ...(typeof generation === "number" ? { generation } : {}),
    ...(Number.isNaN(atMs) ? {} : { atMs }),
  };
}

/**
 * The same line for people: `2026-11-25 14:02:11.389  warn   worker:0: It does not answer.`; another one stays as it is.
 * @param of whose log it is
 */
export function ownWords(of: string, line: string): string {
  const { time, level, task, message } = fieldsOf(line);
  if (typeof time !== "string" || typeof level !== "string" || typeof message !== "string") return line;
  const about = typeof task === "string" && task !== of && !message.includes(task) ? `${task}: ` : "";
  return `${formatMoment(Date.parse(time))}  ${level.padEnd(5)}  ${about}${message}`;
}

/** Whether a filter takes it, but for its number of last lines. */
function isWanted(line: OutputLine, filter: LineFilter): boolean {
  const { atMs = 0, generation } = line;
  const isThen = atMs >= (filter.sinceMs ?? 0) && (filter.generation === undefined || generation === filter.generation);
  return isThen && matches(line, filter);
}

interface Fields {
  readonly event?: unknown;
  readonly task?: unknown;
  readonly container?: unknown;
  readonly generation?: unknown;
  readonly time?: unknown;
  readonly level?: unknown;
  readonly message?: unknown;
}

/** What a line of such a log says; nothing where it is none. */
export function fieldsOf(line: string): Fields {
  if (!line.startsWith("{")) return {};
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    // A line that was cut when the AM was killed.
    return {};
  }
}
