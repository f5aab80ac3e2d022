import { statSync } from "node:fs";
import type { ExecutorReport } from "../../src/api/messages.ts";
import { readRange } from "../../src/file-range.ts";
import type { Checkpoint } from "../../src/job/status.ts";

export type ProgressReport = Extract<ExecutorReport, { type: "child-progress" }>;

/** Of what a program writes between two reads, more than this is ignored. */
const MOST_BYTES = 65_536;

/**
 * Follows the file named by TONY_PROGRESS_FILE. The program appends lines of JSON: `{"step": 1800}` for a step done,
 * `{"checkpoint": "hdfs://…/step-1800", "step": 1800}` for a checkpoint that is complete. Other lines are ignored.
 */
export class ProgressFile {
  readonly #file: string;
  #offset = 0;
  #step = 0;
  #checkpoint: Checkpoint | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** What is new since the last read, as one report; undefined when nothing is. */
  look(nowMs: number): ProgressReport | undefined {
    const lines = this.#newLines();
    const marks = lines.flatMap((line) => parseMark(line) ?? []);
    if (marks.length === 0) return undefined;
    for (const { step, checkpoint } of marks) {
      if (step !== undefined) this.#step = step;
      if (checkpoint !== undefined) this.#checkpoint = { path: checkpoint, step: step ?? this.#step, atMs: nowMs };
    }
    const progress = { type: "child-progress", step: this.#step, atMs: nowMs } as const;
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
}

/** Undefined when the line is neither. */
function parseMark(line: string): Mark | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null) return undefined;
    const fields = new Map<string, unknown>(Object.entries(parsed));
    const [step, checkpoint] = [fields.get("step"), fields.get("checkpoint")];
    const mark = {
      step: Number.isSafeInteger(step) && Number(step) >= 0 ? Number(step) : undefined,
      checkpoint: typeof checkpoint === "string" && checkpoint !== "" ? checkpoint : undefined,
    };
    return mark.step === undefined && mark.checkpoint === undefined ? undefined : mark;
  } catch {
    return undefined;
  }
}
