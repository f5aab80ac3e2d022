import type { ErrorOrigin } from "../../src/job/execution.ts";

/** The last Python traceback of an output. */
export interface Traceback {
  /** From its `Traceback (most recent call last):` to its exception, without the prefix that launchers put before each line. */
  readonly text: string;
  /** The line that names the exception: `ValueError: bad batch`. */
  readonly summary: string;
  /** The exception that it followed from, according to Python. */
  readonly origin?: ErrorOrigin;
  /** Nothing was written after it except what libraries print at the end of a process. */
  readonly isLast: boolean;
}

/** One traceback, and the position of the line that names its exception. */
interface Found {
  readonly lines: readonly string[];
  readonly summary: string;
  readonly at: number;
}

const START = /^(.*?)Traceback \(most recent call last\):\s*$/;
const MAX_LINES = 200;
/** How many lines of an exception's message are kept. */
const MAX_MESSAGE_LINES = 20;
const MAX_LINKS = 20;

/** Between the tracebacks of a chain (docs.python.org, module `traceback`). */
const CAUSE = "The above exception was the direct cause of the following exception:";
const CONTEXT = "During handling of the above exception, another exception occurred:";
/** Exceptions that say only that a child has failed. */
const CHILD_FAILED = /^(?:\w+\.)*(?:CalledProcessError|ChildFailedError)\b/;
/** A launcher's log, and warnings that libraries print as their process ends: glog's, torch's before 2.3, Python's, Weights & Biases'. */
const LOG =
  /^(?:\[\w+\]: ?)?(?:\[?[EWIF]\d{4} |\[[WI] |[A-Z]+:torch\.|\[[\d-]+ [\d:,]+\] torch\.|\S+: \w*Warning: |wandb: )/;
/** Further lines of messages: indented ones, rules, and what CUDA's errors say. */
const MESSAGE = /^(?:\s|-{3}|={3}|CUDA kernel errors |For debugging consider |Compile with |Search for )/;

/**
 * Finds the last traceback in the end of a program's output (docs.python.org, module `traceback`). Prefixes that a launcher adds to lines,
 * such as torchrun's `[rank0]: `, are ignored. Undefined when there is none, or when it ends before its exception.
 */
export function lastTraceback(output: string): Traceback | undefined {
  const lines = output.split(/\r?\n/);
  const start = lines.findLastIndex((line) => START.test(line));
  const last = tracebackAt(lines, start);
  if (last === undefined) return undefined;
  const origin = chainBefore(lines, start) ?? childBefore(lines, start, last);
  return {
    text: [...(origin?.lines ?? []), ...last.lines].join("\n"),
    summary: last.summary,
    ...(origin === undefined ? {} : { origin: origin.is }),
    isLast: isAllOf(last, lines.slice(last.at + 1), prefixAt(lines, start)),
  };
}

function tracebackAt(lines: readonly string[], start: number): Found | undefined {
  if (start < 0) return undefined;
  const prefix = prefixAt(lines, start);
  const own = lines.slice(start, start + MAX_LINES).map((line) => withoutPrefix(line, prefix));
  const exception = own.findIndex((line, index) => index > 0 && line !== "" && !/^\s/.test(line));
  if (exception < 0) return undefined;
  return { lines: own.slice(0, endOfMessage(own, exception)), summary: own[exception] ?? "", at: start + exception };
}

/**
 * Whether the lines after an exception's first one are its message, or a library's last words: other lines may be written by code that
 * caught it. A message continues if its first line ends with a colon.
 */
function isAllOf({ summary, lines }: Found, after: readonly string[], prefix: string): boolean {
  const message = summary.trimEnd().endsWith(":") ? lines.length : 0;
  return after.every((line, index) => {
    const own = withoutPrefix(line, prefix);
    return index < message || own.trim() === "" || MESSAGE.test(own) || LOG.test(own);
  });
}

interface Origin {
  readonly lines: readonly string[];
  readonly is: ErrorOrigin;
}

/** The first exception of the chain that ends with the traceback starting there. */
function chainBefore(lines: readonly string[], start: number): Origin | undefined {
  let at = start;
  let how: "cause" | "context" = "cause";
  for (let links = 0; links < MAX_LINKS; links += 1) {
    const prefix = prefixAt(lines, at);
    const link = lastSaid(lines, at, prefix);
    const text = withoutPrefix(lines[link] ?? "", prefix).trim();
    if (text !== CAUSE && text !== CONTEXT) break;
    const before = lines.slice(0, link).findLastIndex((line) => START.test(line));
    if (tracebackAt(lines, before) === undefined) break;
    if (text === CONTEXT) how = "context";
    at = before;
  }
  const first = at === start ? undefined : tracebackAt(lines, at);
  if (first === undefined) return undefined;
  const prefix = prefixAt(lines, at);
  const all = lines.slice(at, Math.min(start, at + MAX_LINES)).map((line) => withoutPrefix(line, prefix));
  return { lines: all, is: { how, error: first.summary } };
}

/** The traceback of a child that ended by it: only a launcher's log stands between it and its parent's exception. */
function childBefore(lines: readonly string[], start: number, { summary }: Found): Origin | undefined {
  if (!CHILD_FAILED.test(summary)) return undefined;
  const at = lines.slice(0, start).findLastIndex((line) => START.test(line));
  const child = tracebackAt(lines, at);
  if (child === undefined) return undefined;
  if (!isAllOf(child, lines.slice(child.at + 1, start), prefixAt(lines, at))) return undefined;
  const first = chainBefore(lines, at);
  const error = first?.is.how === "cause" ? first.is.error : child.summary;
  return { lines: [...child.lines.slice(0, start - at), ""], is: { how: "child", error } };
}

/** The last line before that one which is not empty; -1: there is none. */
function lastSaid(lines: readonly string[], before: number, prefix: string): number {
  let at = before - 1;
  while (at >= 0 && withoutPrefix(lines[at] ?? "", prefix).trim() === "") at -= 1;
  return at;
}

function prefixAt(lines: readonly string[], start: number): string {
  return START.exec(lines[start] ?? "")?.[1] ?? "";
}

/** A message may have several lines; an empty line, or one that begins like a log line, ends it. */
function endOfMessage(lines: readonly string[], exception: number): number {
  const rest = lines.slice(exception + 1, exception + MAX_MESSAGE_LINES);
  const end = rest.findIndex((line) => line === "" || /^(\[|\d{4}-|[A-Z]+:)/.test(line) || LOG.test(line));
  return exception + 1 + (end < 0 ? rest.length : end);
}

function withoutPrefix(line: string, prefix: string): string {
  return line.startsWith(prefix) ? line.slice(prefix.length) : line.replace(prefix.trimEnd(), "");
}
