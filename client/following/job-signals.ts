import { ExitCode } from "../../src/errors.ts";
import { watchSignals } from "./signals.ts";

/**
 * What a person's signals do to a job that is submitted or followed: the first Ctrl-C or SIGTERM ends it, the second leaves at once. A
 * closed terminal, or a reader that is gone, leaves it running: a submission whose id was told is completed first, one whose id nobody
 * knows is given up.
 */
export class JobSignals {
  readonly #stop = new AbortController();
  readonly #unwatch: () => void;
  readonly #left: (reason: string) => void;
  #id = "";
  #submitted = false;
  #isEnding = false;
  #hungUp = false;

  /** @param left is told why we leave a job that has not ended; the process exits right after */
  constructor(left: (reason: string) => void) {
    this.#left = left;
    this.#unwatch = watchSignals({
      stop: (signal) => this.#stop.abort(signal),
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

  unwatch(): void {
    this.#unwatch();
  }

  #rest(): string {
    if (this.#id === "") return "nothing was submitted";
    return this.#isEnding
      ? `${this.#id} is being ended: tony-ts wait ${this.#id} waits for that`
      : `${this.#id} may still run: tony-ts kill ${this.#id}`;
  }

  #leaveRunning(): never {
    return this.#leave(`${this.#id} still runs; see tony-ts status ${this.#id}`);
  }

  #leave(reason: string): never {
    this.#left(reason);
    process.exit(ExitCode.unknown);
  }
}
