import { appendFileSync } from "node:fs";
import { formatMark, type OutputMark } from "../../src/job/output-index.ts";
import type { OutputLogs } from "./output-files.ts";

/**
 * After every thousand marks the time between two grows, so that the index of a program that runs for weeks stays small.
 */
const EVERY_MS = 125;
const MARKS_AT_A_PACE = 1_000;
/** A program whose output did not grow for this long is quiet. */
const QUIET_MS = 5_000;
/** So many marks are remembered: enough to cover a program's last lines. */
const MOST_RECENT = 256;

/** Records how the output of one generation's program grows. */
export class OutputIndex {
  readonly #logs: OutputLogs;
  readonly #generation: number;
  readonly #recent: OutputMark[] = [];
  #marks = 0;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #lastSizes = "";

  constructor(logs: OutputLogs, generation: number) {
    this.#logs = logs;
    this.#generation = generation;
  }

  /** Adds a mark when the output has grown since the last one and the next one is due. */
  look(nowMs: number): void {
    if (nowMs - this.#lastAtMs >= this.#paceMs) this.mark(nowMs);
  }

  /** The last marks of this generation. */
  get recent(): readonly OutputMark[] {
    return this.#recent;
  }

  /** Whether there was no mark for a while. */
  isQuiet(nowMs: number): boolean {
    return nowMs - this.#lastAtMs >= QUIET_MS;
  }

  /** Adds a mark at once, unless nothing was written since the last one. */
  mark(nowMs: number): void {
    const stdoutBytes = this.#logs.stdout.sizeBytes;
    const stderrBytes = this.#logs.stderr.sizeBytes;
    const sizes = `${stdoutBytes} ${stderrBytes}`;
    if (sizes === this.#lastSizes) return;
    this.#lastSizes = sizes;
    this.#lastAtMs = nowMs;
    this.#marks += 1;
    const mark = { atMs: nowMs, generation: this.#generation, stdoutBytes, stderrBytes };
    this.#recent.push(mark);
    if (this.#recent.length > MOST_RECENT) this.#recent.shift();
    try {
      appendFileSync(this.#logs.index.file, formatMark(mark));
    } catch {
      // A full disk: the output is still there, only the order of its lines is lost.
    }
  }

  get #paceMs(): number {
    return EVERY_MS * 2 ** Math.floor(this.#marks / MARKS_AT_A_PACE);
  }
}
