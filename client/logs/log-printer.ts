import type { OutputStream } from "../../src/api/messages.ts";
import { formatClock } from "../output/format.ts";
import type { Output } from "../output/output.ts";
import type { OutputLine } from "./ordered-output.ts";
import { printEvent } from "./print-event.ts";

/** Prints lines of logs: each to the stream that it was written to, or as JSON, an event a line. */
export class LogPrinter {
  readonly #output: Output;
  readonly #json: boolean;
  /** The generation that was printed last, by task. */
  readonly #generations = new Map<string, number>();
  /** Whether the task stands before its lines. */
  several = false;

  constructor(output: Output, json: boolean) {
    this.#output = output;
    this.#json = json;
  }

  line(task: string, { stream, line, ...known }: OutputLine): void {
    if (this.#json) {
      printEvent(this.#output, { event: "output", task, stream, line, ...known });
      return;
    }
    this.#markGeneration(task, known);
    this.#print(task, stream, line);
  }

  /** Says something beside the logs. */
  remark(text: string): void {
    this.#output.problem(text);
  }

  /** A task that was started again says so before its first line; beside the result, which is the program's alone. The AM never is. */
  #markGeneration(task: string, { generation, atMs }: Pick<OutputLine, "generation" | "atMs">): void {
    if (task === "am" || generation === undefined || generation === (this.#generations.get(task) ?? 1)) return;
    this.#generations.set(task, generation);
    const time = atMs === undefined ? "" : `, ${formatClock(atMs)}`;
    this.#print(task, "stderr", `── generation ${generation}${time} ──`);
  }

  #print(task: string, stream: OutputStream, line: string): void {
    this.#output.logLine(this.several ? `${task} | ` : "", line, stream === "stdout" ? "out" : "err");
  }
}
