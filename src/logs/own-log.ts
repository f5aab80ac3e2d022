import { BUNDLES } from "../job/launch/container-names.ts";
import { logFileOf } from "../job/launch/launch-command.ts";
import { LineSplitter, mayMatch } from "./line-splitter.ts";
import { type LineFilter, matches, type OutputLine } from "./ordered-output.ts";

/** The file's name, in the log folder of a task's container. */
export const executorLog = logFileOf(BUNDLES.executor);

/** The wanted lines of a log of the AM or of an executor. */
export async function* ownLines(
  pieces: AsyncIterable<Uint8Array>,
  stream: OutputLine["stream"],
  filter: LineFilter,
): AsyncGenerator<OutputLine> {
  const splitter = new LineSplitter();
  const mayHold = mayMatch(filter.pattern);
  const wanted = (lines: readonly string[]) =>
    lines.map((line) => ownLine(line, stream)).filter((line) => isWanted(line, filter));
  for await (const data of pieces) yield* wanted(splitter.push(data, mayHold));
  yield* wanted(splitter.end());
}

/** A line of one of our programs' logs, which is JSON, with its time and generation. */
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

/** Whether a filter accepts the line, apart from its limit to the last lines. */
function isWanted(line: OutputLine, filter: LineFilter): boolean {
  const { atMs = 0, generation } = line;
  const isThen = atMs >= (filter.sinceMs ?? 0) && (filter.generation === undefined || generation === filter.generation);
  return isThen && matches(line, filter);
}

interface Fields {
  readonly event?: unknown;
  readonly task?: unknown;
  readonly trial?: unknown;
  readonly container?: unknown;
  readonly generation?: unknown;
  readonly time?: unknown;
  readonly level?: unknown;
  readonly message?: unknown;
}

/** The fields of a line of such a log; none if it is not such a line. */
export function fieldsOf(line: string): Fields {
  if (!line.startsWith("{")) return {};
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    // A line that was truncated when the AM was killed.
    return {};
  }
}
