import { statSync } from "node:fs";
import type { ExecutorReport } from "../../src/api/messages.ts";
import { readRange } from "../../src/file-range.ts";
import { METRIC_NAME, MOST_METRICS } from "../../src/job/program-metrics.ts";
import type { Checkpoint } from "../../src/job/status.ts";
import type { Log } from "../../src/log.ts";

export type ProgressReport = Extract<ExecutorReport, { type: "child-progress" }>;

/** Of what a program writes between two reads, only so much is read, the last. */
export const MOST_PROGRESS_BYTES = 65_536;
/** A program may do the same thing wrong thousands of times, under a new name each. */
const MOST_COMPLAINTS = 10;

/**
 * Follows the file named by TONY_PROGRESS_FILE. The program appends lines of JSON: `{"step": 1800}` for a step done,
 * `{"checkpoint": "hdfs://…/step-1800", "step": 1800}` for a checkpoint that is complete, `{"metrics": {"loss": 0.4}}` for what it
 * measured. Other objects are passed over; what was meant for us and cannot be kept is said in the log, once.
 */
export class ProgressFile {
  readonly #file: string;
  readonly #log: Pick<Log, "warn">;
  readonly #complaints = new Set<string>();
  #offset = 0;
  #step = 0;
  #checkpoint: Checkpoint | undefined;
  readonly #metrics = new Map<string, number>();

  constructor(file: string, log: Pick<Log, "warn">) {
    this.#file = file;
    this.#log = log;
  }

  /** What is new since the last read, as one report; undefined when nothing is. */
  look(nowMs: number): ProgressReport | undefined {
    const lines = this.#newLines();
    const marks = lines.flatMap((line) => this.#parse(line) ?? []);
    if (marks.length === 0) return undefined;
    for (const { step, checkpoint, metrics } of marks) {
      if (step !== undefined) this.#step = step;
      if (checkpoint !== undefined) this.#checkpoint = { path: checkpoint, step: step ?? this.#step, atMs: nowMs };
      for (const [name, value] of metrics) {
        if (this.#metrics.has(name) || this.#metrics.size < MOST_METRICS) this.#metrics.set(name, value);
        else
          this.#complain(`The metric ${JSON.stringify(name)} is not kept: there are ${MOST_METRICS} others already.`);
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
    const from = Math.max(this.#offset, size - MOST_PROGRESS_BYTES);
    if (from > this.#offset)
      this.#complain(`More than ${MOST_PROGRESS_BYTES} bytes came at once: only the last are read.`);
    const bytes = readRange(this.#file, from, size - from);
    const end = bytes.lastIndexOf("\n") + 1;
    this.#offset = from + end;
    return bytes.subarray(0, end).toString("utf8").split("\n");
  }

  /** Undefined when the line is none of these. */
  #parse(line: string): Mark | undefined {
    if (line.trim() === "") return undefined;
    let fields: ReadonlyMap<string, unknown>;
    try {
      fields = fieldsOf(parseLine(line));
    } catch {
      this.#complain(`A line is not JSON: ${excerpt(line)}`);
      return undefined;
    }
    const step = this.#taken(fields, "step", wholeNumber, "a whole number");
    const checkpoint = this.#taken(fields, "checkpoint", someText, "a path or an address");
    const named = this.#taken(fields, "metrics", objectOf, "an object of numbers by name") ?? {};
    const metrics = Object.entries(named).flatMap(([name, value]) => this.#metric(name, value));
    return step === undefined && checkpoint === undefined && metrics.length === 0
      ? undefined
      : { step, checkpoint, metrics };
  }

  #taken<T>(
    fields: ReadonlyMap<string, unknown>,
    name: string,
    read: (value: unknown) => T | undefined,
    what: string,
  ): T | undefined {
    const value = read(fields.get(name));
    if (value === undefined && fields.has(name)) {
      this.#complain(`"${name}" is not ${what}: ${excerpt(JSON.stringify(fields.get(name)))}`);
    }
    return value;
  }

  #metric(name: string, value: unknown): [name: string, value: number][] {
    const metric = `The metric ${excerpt(JSON.stringify(name))} is not kept`;
    if (!METRIC_NAME.test(name)) this.#complain(`${metric}: a name has 1 to 64 characters and no spaces.`);
    else if (typeof value !== "number") this.#complain(`${metric} where it is not a number.`);
    else return [[name, value]];
    return [];
  }

  #complain(words: string): void {
    if (this.#complaints.has(words) || this.#complaints.size >= MOST_COMPLAINTS) return;
    this.#complaints.add(words);
    this.#log.warn("progress-ignored", `${words} (TONY_PROGRESS_FILE)`);
  }
}

interface Mark {
  readonly step: number | undefined;
  readonly checkpoint: string | undefined;
  readonly metrics: readonly (readonly [name: string, value: number])[];
}

/** Strings, which stay, or what Python's json writes for numbers that JSON does not have. */
const STRING_OR_NO_NUMBER = /"(?:\\.|[^"\\])*"|-?\b(?:NaN|Infinity)\b/g;

/** The step of a program whose loss is NaN counts all the same. */
function parseLine(line: string): unknown {
  return JSON.parse(line.replace(STRING_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : "null")));
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function someText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function excerpt(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

function objectOf(value: unknown): object | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}

/** Of anything but an object: none. */
function fieldsOf(value: unknown): ReadonlyMap<string, unknown> {
  return new Map<string, unknown>(Object.entries(objectOf(value) ?? {}));
}
