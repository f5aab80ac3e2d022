/** The last Python traceback of an output. */
export interface Traceback {
  /** From its `Traceback (most recent call last):` to its exception, without the prefix that launchers put before each line. */
  readonly text: string;
  /** The line that names the exception: `ValueError: bad batch`. */
  readonly summary: string;
}

const START = /^(.*?)Traceback \(most recent call last\):\s*$/;
const MAX_LINES = 200;
/** Of an exception's message of many lines, so many are kept. */
const MAX_MESSAGE_LINES = 20;

/**
 * Finds the last traceback in the end of a program's output (docs.python.org, module `traceback`). Lines that a launcher has prefixed, such
 * as torchrun's `[rank0]: `, count as without the prefix. Undefined when there is none, or when it ends before its exception.
 */
export function lastTraceback(output: string): Traceback | undefined {
  const lines = output.split(/\r?\n/);
  const start = lines.findLastIndex((line) => START.test(line));
  if (start < 0) return undefined;
  const prefix = START.exec(lines[start] ?? "")?.[1] ?? "";
  const own = lines.slice(start, start + MAX_LINES).map((line) => withoutPrefix(line, prefix));
  const exception = own.findIndex((line, index) => index > 0 && line !== "" && !/^\s/.test(line));
  if (exception < 0) return undefined;
  return { text: own.slice(0, endOfMessage(own, exception)).join("\n"), summary: own[exception] ?? "" };
}

/** A message may have several lines; an empty line, or one that begins as a line of a log does, ends it. */
function endOfMessage(lines: readonly string[], exception: number): number {
  const rest = lines.slice(exception + 1, exception + MAX_MESSAGE_LINES);
  const end = rest.findIndex((line) => line === "" || /^(\[|\d{4}-|[A-Z]+:)/.test(line));
  return exception + 1 + (end < 0 ? rest.length : end);
}

function withoutPrefix(line: string, prefix: string): string {
  return line.startsWith(prefix) ? line.slice(prefix.length) : line.replace(prefix.trimEnd(), "");
}
