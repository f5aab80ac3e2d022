import { statSync } from "node:fs";
import type { ExecutorReport } from "../../src/api/messages.ts";
import type { Checkpoint } from "../../src/job/execution.ts";
import { MOST_METRICS } from "../../src/job/program-metrics.ts";
import { readRange } from "../../src/local-files.ts";
import type { Log } from "../../src/log.ts";
import { excerpt, type Mark, parseProgress, readMark } from "./progress-mark.ts";

export type ProgressReport = Extract<ExecutorReport, { type: "child-progress" }>;

/** How many bytes are read at most, the last ones, of what a program writes between two reads. */
export const MOST_PROGRESS_BYTES = 65_536;
/** A program may do the same thing wrong thousands of times, each time under a new name. */
const MOST_COMPLAINTS = 10;

/**
 * Follows the file named by TONY_PROGRESS_FILE. The program appends lines of JSON: `{"step": 1800}` for a step done,
 * `{"checkpoint": "hdfs://…/step-1800", "step": 1800}` for a checkpoint that is complete, `{"metrics": {"loss": 0.4}}` for what it
 * measured. Other objects are ignored; what was meant for us and cannot be kept is logged, once.
 */
export class ProgressFile {
  readonly #file: string;
  readonly #log: Pick<Log, "warn">;
  readonly #complaints = new Set<string>();
  #offset = 0;
  #step = 0;
  #checkpoint: Checkpoint | undefined;
  /** The last value of each, and at which step. */
  readonly #metrics = new Map<string, { readonly value: number; readonly step: number }>();

  constructor(file: string, log: Pick<Log, "warn">) {
    this.#file = file;
    this.#log = log;
  }

  /**
   * What is new since the last read, as one report; undefined when nothing is.
   * @param isOver the program writes no more: its last line needs no line end
   */
  look(nowMs: number, isOver = false): ProgressReport | undefined {
    const lines = this.#newLines(isOver);
    const marks = lines.flatMap((line) => this.#parse(line) ?? []);
    if (marks.length === 0) return undefined;
    for (const { step, checkpoint, metrics } of marks) {
      if (step !== undefined) this.#step = step;
      if (checkpoint !== undefined) this.#checkpoint = { path: checkpoint, step: this.#step, atMs: nowMs };
      for (const [name, value] of metrics) {
        if (this.#metrics.has(name) || this.#metrics.size < MOST_METRICS)
          this.#metrics.set(name, { value, step: this.#step });
        else
          this.#complain(`The metric ${JSON.stringify(name)} is not kept: there are ${MOST_METRICS} others already.`);
      }
    }
    const progress = { type: "child-progress", step: this.#step, atMs: nowMs, ...this.#measured() } as const;
    return this.#checkpoint === undefined ? progress : { ...progress, checkpoint: this.#checkpoint };
  }

  /** A value repeated from an earlier step is reported with that step: a search compares trials by the values of one step. */
  #measured(): Pick<ProgressReport, "metrics" | "metricSteps"> {
    const all = [...this.#metrics];
    const earlier = all.filter(([, { step }]) => step !== this.#step);
    return {
      ...(all.length > 0 && { metrics: Object.fromEntries(all.map(([name, { value }]) => [name, value])) }),
      ...(earlier.length > 0 && { metricSteps: Object.fromEntries(earlier.map(([name, { step }]) => [name, step])) }),
    };
  }

  /** Whole lines only, as long as the last one may be incomplete. */
  #newLines(isOver: boolean): string[] {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#offset) this.#offset = 0;
    if (size === this.#offset) return [];
    const from = Math.max(this.#offset, size - MOST_PROGRESS_BYTES);
    if (from > this.#offset)
      this.#complain(`More than ${MOST_PROGRESS_BYTES} bytes came at once: only the last are read.`);
    const bytes = readRange(this.#file, from, size - from);
    const end = isOver ? bytes.length : bytes.lastIndexOf("\n") + 1;
    this.#offset = from + end;
    return bytes.subarray(0, end).toString("utf8").split("\n");
  }

  /** Undefined when the line is none of these. */
  #parse(line: string): Mark | undefined {
    if (line.trim() === "") return undefined;
    try {
      return readMark(parseProgress(line), (words) => this.#complain(words));
    } catch {
      this.#complain(`A line is not JSON: ${excerpt(line)}`);
      return undefined;
    }
  }

  #complain(words: string): void {
    if (this.#complaints.has(words) || this.#complaints.size >= MOST_COMPLAINTS) return;
    this.#complaints.add(words);
    this.#log.warn("progress-ignored", `${words} (TONY_PROGRESS_FILE)`);
  }
}
