/** The executor's timers. Beyond 24.8 days `setTimeout` would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** At most one pending call. */
export class Timer {
  #timer: NodeJS.Timeout | undefined;

  /** Makes that call after the delay, or early where the delay is very long; replaces an earlier pending call. */
  set(delayMs: number, call: () => void): void {
    this.clear();
    this.#timer = setTimeout(call, Math.min(Math.max(0, delayMs), LONGEST_MS));
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** Makes a call again and again until it is cleared. */
export class Ticker {
  #timer: NodeJS.Timeout | undefined;

  set(everyMs: number, call: () => void): void {
    this.clear();
    this.#timer = setInterval(call, everyMs);
  }

  clear(): void {
    clearInterval(this.#timer);
  }
}
