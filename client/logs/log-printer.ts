import type { OutputStream } from "../../src/api/messages.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";
import { fieldsOf } from "../../src/logs/own-log.ts";
import { formatClock, formatMoment } from "../output/format.ts";
import type { Output } from "../output/output.ts";
import { printEvent } from "./print-event.ts";

export interface LogPrinterOptions {
  /** Prints one event per line. */
  readonly json?: boolean;
  /** Sends what programs wrote to stderr to stderr, instead of mixing it with the rest. */
  readonly split?: boolean;
}

/** Prints lines of logs as the programs wrote them, in their order, or as JSON; lines of our own programs as text. */
export class LogPrinter {
  readonly #output: Output;
  readonly #options: LogPrinterOptions;
  /** The generation that was printed last, by task. */
  readonly #generations = new Map<string, number>();
  /** Whether the task's name stands in front of its lines. */
  several = false;
  /** The name of a task in front of its lines. */
  nameOf = (task: string): string => task;

  constructor(output: Output, options: LogPrinterOptions = {}) {
    this.#output = output;
    this.#options = options;
  }

  line(task: string, { stream, line, ...known }: OutputLine): void {
    if (this.#options.json) {
      printEvent(this.#output, { event: "output", task, stream, line, ...known });
    } else if (task === "am" || stream === "executor") {
      this.#print(task, "stdout", ownWords(task, line));
    } else {
      this.#markGeneration(task, known);
      this.#print(task, this.#options.split ? stream : "stdout", line);
    }
  }

  /** Prints a remark next to the logs. */
  remark(text: string): void {
    this.#output.problem(text);
  }

  /** A task that was started again says so before its first line; on the other stream, because the result is the program's output alone. */
  #markGeneration(task: string, { generation, atMs }: Pick<OutputLine, "generation" | "atMs">): void {
    if (generation === undefined || generation === (this.#generations.get(task) ?? 1)) return;
    this.#generations.set(task, generation);
    const time = atMs === undefined ? "" : `, ${formatClock(atMs)}`;
    this.#print(task, "stderr", `── generation ${generation}${time} ──`);
  }

  #print(task: string, stream: OutputStream, line: string): void {
    this.#output.logLine(this.several ? `${this.nameOf(task)} | ` : "", line, stream === "stdout" ? "out" : "err");
  }
}

/**
 * A line of our own programs' logs for people: `2026-11-25 14:02:11.389  warn   worker:0: It does not answer.`; any other line stays as it is.
 * @param of the task or the AM whose log it is
 */
export function ownWords(of: string, line: string): string {
  const { time, level, task, message } = fieldsOf(line);
  if (typeof time !== "string" || typeof level !== "string" || typeof message !== "string") return line;
  const about = typeof task === "string" && task !== of && !message.includes(task) ? `${task}: ` : "";
  return `${formatMoment(Date.parse(time))}  ${level.padEnd(5)}  ${about}${message}`;
}
