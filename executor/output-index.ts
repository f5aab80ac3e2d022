import { appendFileSync } from "node:fs";
import { formatMark } from "../src/job/output-index.ts";
import { outputFile, sizeOf } from "./output-files.ts";

/** Marks come whenever there is news at first, ever more rarely after each thousand: the file of a program of weeks stays small. */
const EVERY_MS = 125;
const MARKS_AT_A_PACE = 1_000;
/** So long after the last mark a program that wrote is one that does not write now. */
const QUIET_MS = 5_000;

/** Writes down how the output of one generation's program grows. */
export class OutputIndex {
  readonly #logPrefix: string;
  readonly #generation: number;
  #marks = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #lastSizes = "";

  constructor(logPrefix: string, generation: number) {
    this.#logPrefix = logPrefix;
    this.#generation = generation;
  }

  /** Adds a mark when there is more output than at the last one, and it is time. */
  look(nowMs: number): void {
    if (nowMs - this.#lastAtMs >= this.#paceMs) this.mark(nowMs);
  }

  /** Whether nothing was marked for a while. */
  isQuiet(nowMs: number): boolean {
    return nowMs - this.#lastAtMs >= QUIET_MS;
  }

  /** Adds a mark at once, unless nothing was written since the last one. */
  mark(nowMs: number): void {
    const stdoutBytes = sizeOf(outputFile(this.#logPrefix, "stdout"));
    const stderrBytes = sizeOf(outputFile(this.#logPrefix, "stderr"));
    const sizes = `${stdoutBytes} ${stderrBytes}`;
    if (sizes === this.#lastSizes) return;
    this.#lastSizes = sizes;
    this.#lastAtMs = nowMs;
    this.#marks += 1;
    const mark = { atMs: nowMs, generation: this.#generation, stdoutBytes, stderrBytes };
    try {
      appendFileSync(outputFile(this.#logPrefix, "index"), formatMark(mark));
    } catch {
      // A full disk: the output itself says more, only its order is not known.
    }
  }

  get #paceMs(): number {
    return EVERY_MS * 2 ** Math.floor(this.#marks / MARKS_AT_A_PACE);
  }
}
