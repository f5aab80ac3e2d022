import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { Parameters } from "../../src/job/search/space.ts";
import { parameterValue } from "../../src/job/search/trial-line.ts";
import type { Search, Trial } from "../../src/job/search/trials.ts";
import { count, object, recordOf } from "../../src/job/shape.ts";
import type { Wait } from "../../src/job/status.ts";
import { waitOf } from "../../src/job/wait.ts";
import type { Log } from "../../src/log.ts";
import { LineSplitter } from "../../src/logs/line-splitter.ts";
import type { Event } from "../core/state/events.ts";

export interface OptunaOptions {
  readonly search: Pick<Search, "space" | "direction" | "seed">;
  readonly command: readonly [program: string, ...words: string[]];
  readonly clock: WallClock;
  readonly log: Log;
  /** The number of the trial to ask for. */
  readonly wanted: () => number | undefined;
  /** All trials that have parameters, in the order of their numbers. */
  readonly trials: () => readonly Trial[];
  readonly post: (event: Extract<Event, { type: "trial-proposed" | "proposals-failed" }>) => void;
}

/** The first answer comes once Python has read its packages, perhaps from a slow disk. */
const ANSWER_WITHIN_MS = 60_000;
/** How often in a row a process that gave no answer is started again. */
const MOST_RESTARTS = 2;
const PAUSE_MS = 1_000;
/** A question that is open for longer is shown. */
const SHOWN_AFTER_MS = 2_000;
/** The longest part of an error's text that is reported. */
const LONGEST_WORDS = 300;

/** Keeps the reservations of Python's packages small: a node may end the container for the memory that its processes have reserved. */
const FRUGALITY = { MALLOC_ARENA_MAX: "1", OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

const answerShape = object<{ number: number; params: Parameters }>({
  required: { number: count, params: recordOf(parameterValue) },
  optional: {},
});

/**
 * Asks Optuna, in a process of its own, for one trial of a search after the other, as long as some are wanted. The process is told of each
 * trial when it is new and when it has ended; a new process is told of all. A process that ends, is silent or gives an invalid answer is
 * replaced; when that has not helped, the core is told.
 */
export class Optuna {
  readonly #options: OptunaOptions;
  #process: ChildProcessWithoutNullStreams | undefined;
  /** What the present process was told of each trial. */
  #told: string[] = [];
  #asked: { readonly number: number; readonly sinceMs: number } | undefined;
  #cancel: (() => void) | undefined;
  /** The last line that the present process wrote to its error output. */
  #lastError = "";
  #restarts = 0;
  #isOver = false;

  constructor(options: OptunaOptions) {
    this.#options = options;
  }

  /** To be called when something has changed. */
  look(): void {
    const number = this.#isOver ? undefined : this.#options.wanted();
    if (number === undefined || this.#asked !== undefined) return;
    const { clock } = this.#options;
    this.#asked = { number, sinceMs: clock.nowMs() };
    this.#process ??= this.#start();
    this.#write({ number, trials: this.#news() });
    const late = `no answer within ${durationWords(ANSWER_WITHIN_MS)}`;
    this.#cancel = clock.after(ANSWER_WITHIN_MS, () => this.#failed(late));
  }

  /** What is waited for. */
  get waits(): Wait[] {
    if (this.#asked === undefined || this.#isOver) return [];
    const { number: trial, sinceMs } = this.#asked;
    const isLong = this.#options.clock.nowMs() - sinceMs > SHOWN_AFTER_MS;
    return isLong ? [waitOf({ reason: { code: "proposal", trial }, sinceMs })] : [];
  }

  stop(): void {
    this.#isOver = true;
    this.#cancel?.();
    this.#end();
  }

  #start(): ChildProcessWithoutNullStreams {
    const { command, search } = this.#options;
    const [program, ...words] = command;
    const child = spawn(program, words, { stdio: "pipe", env: { ...process.env, ...FRUGALITY } });
    const [lines, errors] = [new LineSplitter(), new LineSplitter()];
    const isPresent = () => this.#process === child;
    child.on("error", (error) => {
      if (isPresent()) this.#failed(startFailure(program, error), false);
    });
    // Its last words have been read by then.
    child.on("close", (code, signal) => {
      if (isPresent()) this.#failed(this.#lastError || `${program} ended with ${signal ?? `exit code ${code}`}`);
    });
    // A process that has ended is reported by its end.
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (bytes: Buffer) => {
      const said = errors.push(bytes).findLast((line) => line.trim() !== "");
      if (isPresent() && said !== undefined) this.#lastError = said.trim().slice(0, LONGEST_WORDS);
    });
    child.stdout.on("data", (bytes: Buffer) => {
      for (const line of lines.push(bytes)) if (isPresent()) this.#heard(line);
    });
    this.#told = [];
    this.#lastError = "";
    const { space, direction, seed } = search;
    child.stdin.write(`${JSON.stringify({ space, direction, seed })}\n`);
    return child;
  }

  #write(question: object): void {
    this.#process?.stdin.write(`${JSON.stringify(question)}\n`);
  }

  #news(): object[] {
    return this.#options.trials().flatMap(({ params, state, value, step }, number) => {
      const isOpen = state === "running";
      const trial = { number, params, state, ...(!isOpen && { value: String(value ?? "NaN"), step: step ?? 0 }) };
      const text = JSON.stringify(trial);
      if (this.#told[number] === text) return [];
      this.#told[number] = text;
      return [trial];
    });
  }

  #heard(line: string): void {
    const answer = readAnswer(line);
    if (answer === undefined || answer.number !== this.#asked?.number) {
      this.#failed(`it said what is no answer: ${line.slice(0, LONGEST_WORDS)}`);
      return;
    }
    this.#cancel?.();
    this.#asked = undefined;
    this.#restarts = 0;
    this.#options.post({ type: "trial-proposed", ...answer });
  }

  /** @param hasRun whether the interpreter could be started */
  #failed(problem: string, hasRun = true): void {
    this.#end();
    this.#cancel?.();
    const { clock, log, post } = this.#options;
    if (this.#restarts === MOST_RESTARTS) {
      this.#isOver = true;
      post({ type: "proposals-failed", problem, hasRun });
      return;
    }
    this.#restarts += 1;
    log.warn("optuna-restarts", `The process that asks Optuna gave no answer, and is started again: ${problem}.`);
    this.#cancel = clock.after(PAUSE_MS, () => {
      this.#asked = undefined;
      this.look();
    });
  }

  #end(): void {
    const ended = this.#process;
    this.#process = undefined;
    ended?.kill("SIGKILL");
  }
}

function startFailure(program: string, error: Error): string {
  const code = errorCode(error);
  if (code === "ENOENT") return `there is no program ${program}`;
  return code === "EACCES" ? `${program} cannot be executed` : errorMessage(error);
}

function readAnswer(line: string): { number: number; params: Parameters } | undefined {
  try {
    return answerShape(JSON.parse(line), "");
  } catch {
    return undefined;
  }
}
