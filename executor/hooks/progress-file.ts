import { statSync } from "node:fs";
import type { ExecutorReport } from "../../src/api/messages.ts";
import { readRange } from "../../src/file-range.ts";
import type { Checkpoint } from "../../src/job/status.ts";

export type ProgressReport = Extract<ExecutorReport, { type: "child-progress" }>;

/** Of what a program writes between two reads, more than this is ignored. */
const MOST_BYTES = 65_536;
/** The ApplicationMaster keeps them in its journal: further names are ignored. */
const MOST_METRICS = 32;
const METRIC_NAME = /^[\w.:/-]{1,64}$/;

/**
 * Follows the file named by TONY_PROGRESS_FILE. The program appends lines of JSON: `{"step": 1800}` for a step done,
 * `{"checkpoint": "hdfs://…/step-1800", "step": 1800}` for a checkpoint that is complete, `{"metrics": {"loss": 0.4}}` for what it
 * measured. Other lines are ignored.
 */
export class ProgressFile {
  readonly #file: string;
  #offset = 0;
  #step = 0;
  #checkpoint: Checkpoint | undefined;
  readonly #metrics = new Map<string, number>();

  constructor(file: string) {
    this.#file = file;
  }

  /** What is new since the last read, as one report; undefined when nothing is. */
  look(nowMs: number): ProgressReport | undefined {
    const lines = this.#newLines();
    const marks = lines.flatMap((line) => parseMark(line) ?? []);
    if (marks.length === 0) return undefined;
    for (const { step, checkpoint, metrics } of marks) {
      if (step !== undefined) this.#step = step;
      if (checkpoint !== undefined) this.#checkpoint = { path: checkpoint, step: step ?? this.#step, atMs: nowMs };
      for (const [name, value] of metrics) {
        if (this.#metrics.has(name) || this.#metrics.size < MOST_METRICS) this.#metrics.set(name, value);
      }
    }
    const metrics = this.#metrics.size === 0 ? {} : { metrics: Object.fromEntries(this.#metrics) };
    const progress = { type: "child-progress", step: this.#step, atMs: nowMs, ...metrics } as const;
    return this.#checkpoint === undefined ? progress : { ...progress, checkpoint: this.#checkpoint };
  }

  /** Whole lines only: the last one may be incomplete. */
  #newLines(): string[] {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < this.#offset) this.#offset = 0;
    if (size === this.#offset) return [];
    const from = Math.max(this.#offset, size - MOST_BYTES);
    const bytes = readRange(this.#file, from, size - from);
    const end = bytes.lastIndexOf("\n") + 1;
    this.#offset = from + end;
    return bytes.subarray(0, end).toString("utf8").split("\n");
  }
}

interface Mark {
  readonly step: number | undefined;
  readonly checkpoint: string | undefined;
  readonly metrics: readonly (readonly [name: string, value: number])[];
}

/** Undefined when the line is none of these. */
function parseMark(line: string): Mark | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    const fields = fieldsOf(parsed);
    const [step, checkpoint] = [fields.get("step"), fields.get("checkpoint")];
    const mark = {
      step: Number.isSafeInteger(step) && Number(step) >= 0 ? Number(step) : undefined,
      checkpoint: typeof checkpoint === "string" && checkpoint !== "" ? checkpoint : undefined,
      metrics: [...fieldsOf(fields.get("metrics"))].flatMap(([name, value]): [string, number][] =>
        typeof value === "number" && METRIC_NAME.test(name) ? [[name, value]] : [],
      ),
    };
    return mark.step === undefined && mark.checkpoint === undefined && mark.metrics.length === 0 ? undefined : mark;
  } catch {
    return undefined;
  }
}

/** Of anything but an object: none. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(typeof value === "object" && value !== null ? Object.entries(value) : []);
}
