import { ExitCode } from "../../src/errors.ts";
import { watchSignals } from "./signals.ts";

/** Whose job it is that a person's signals meet. */
export interface JobOwner {
  /** The job was submitted here, or Ctrl-C and SIGTERM are to end it all the same. */
  readonly owns: boolean;
  /** Asks a person who presses Ctrl-C whether the job of another client is to end; not set where no person can answer. */
  readonly askToEnd?: () => Promise<boolean>;
}

/**
 * What a person's signals do to a job that is submitted or followed. The first Ctrl-C or SIGTERM ends it where it was submitted here, and
 * otherwise leaves it running, unless the person answers that it is to end; the second leaves at once. A closed terminal, or a reader that
 * is gone, leaves it running: a submission whose id was told is completed first, one whose id nobody knows is given up.
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

  /** @param left is told why we leave a job that has not ended; the process exits right after */
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

  /** Fires when the job is to be ended, or not to be submitted; its reason says by what. */
  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  /** Its id is known. */
  named(id: string): void {
    this.#id = id;
  }

  /** To be called when the request to end it was taken. */
  readonly ending = (): void => {
    this.#isEnding = true;
  };

  /** It runs without us from here on. */
  submitted(): void {
    this.#submitted = true;
    if (this.#hungUp) this.#leaveRunning();
  }

  /** From here on there is nothing to leave: whoever does not read how it ended learns it from the exit code. */
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
