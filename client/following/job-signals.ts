import { ExitCode } from "../../src/errors.ts";
import { watchSignals } from "./signals.ts";

/** Whether a person's signals concern a job of this client's or another one. */
export interface JobOwner {
  /** Whether the job was submitted here, or Ctrl-C and SIGTERM are to end it anyway. */
  readonly owns: boolean;
  /** Asks a person who presses Ctrl-C whether to end another client's job; not set where nobody can answer. */
  readonly askToEnd?: () => Promise<boolean>;
}

/**
 * What a person's signals do to a job that is submitted or followed. The first Ctrl-C or SIGTERM ends a job that was submitted here, and
 * leaves any other running unless the person confirms that it is to end; the second leaves at once. When the terminal is closed or the
 * reader is gone, the job runs on: a submission whose id was printed is completed first, one whose id nobody knows is abandoned.
 */
export class JobSignals {
  readonly #stop = new AbortController();
  readonly #unwatch: () => void;
  readonly #left: (reason: string) => void;
  readonly #owns: boolean;
  #id = "";
  #submitted = false;
  #isEnding = false;
  #hungUp = false;

  /** @param left is called with why this client leaves a job that has not ended; the process exits right after */
  constructor(left: (reason: string) => void, { owns, askToEnd }: JobOwner = { owns: true }) {
    this.#left = left;
    this.#owns = owns;
    this.#unwatch = watchSignals({
      stop: (signal) => {
        if (owns) this.#stop.abort(signal);
        else if (signal === "Ctrl-C" && askToEnd !== undefined) void this.#ask(signal, askToEnd);
        else this.#leaveRunning();
      },
      leave: () => {
        this.#leave(`Left at once; ${this.#rest()}`);
      },
      detach: () => {
        this.#hungUp = true;
        if (this.#submitted) this.#leaveRunning();
        else if (this.#id === "") this.#stop.abort("SIGHUP");
      },
    });
  }

  /** Aborted when the job is to be ended, or not to be submitted; its reason says by which signal. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Its id is known. */
  named(id: string): void {
    this.#id = id;
  }

  /** To be called when the request to end the job was accepted. */
  readonly ending = (): void => {
    this.#isEnding = true;
  };

  /** The job runs without this client from here on. */
  submitted(): void {
    this.#submitted = true;
    if (this.#hungUp) this.#leaveRunning();
  }

  /** From here on there is nothing to leave: anybody who does not read how the job ended learns it from the exit code. */
  readonly ended = (exitCode: ExitCode): void => {
    process.exitCode = exitCode;
    this.#unwatch();
  };

  unwatch(): void {
    this.#unwatch();
  }

  async #ask(signal: string, askToEnd: () => Promise<boolean>): Promise<void> {
    if (await askToEnd()) this.#stop.abort(signal);
    else this.#leaveRunning();
  }

  #rest(): string {
    if (this.#id === "") return "nothing was submitted";
    if (this.#isEnding) return `${this.#id} is being ended: tony-ts wait ${this.#id} waits for that`;
    return this.#owns
      ? `${this.#id} may still run: tony-ts kill ${this.#id}`
      : `${this.#id} still runs: tony-ts status ${this.#id}`;
  }

  #leaveRunning(): never {
    return this.#leave(`${this.#id} still runs; see tony-ts status ${this.#id}`);
  }

  #leave(reason: string): never {
    this.#left(reason);
    process.exit(ExitCode.unknown);
  }
}
