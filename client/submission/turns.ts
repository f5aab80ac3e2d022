/** Limits how many tasks run concurrently; the others wait in order. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Runs the work when it is its turn, or when the signal is aborted, which the work has to check itself. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const hasTurn = await this.#turn(signal);
    try {
      return await work();
    } finally {
      if (hasTurn) this.#next();
    }
  }

  /** Resolves with false when the signal was aborted first. */
  #turn(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const come = () => {
        signal.removeEventListener("abort", leave);
        resolve(true);
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(come), 1);
        resolve(false);
      };
      this.#waiting.push(come);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #next(): void {
    const come = this.#waiting.shift();
    if (come === undefined) this.#free += 1;
    else come();
  }
}
