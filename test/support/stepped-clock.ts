import type { WallClock } from "../../src/hadoop/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly call: () => void;
}

/** A clock whose time passes when the test says so. */
export class SteppedClock implements WallClock {
  #nowMs = 1_795_305_600_000;
  #timers: Timer[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, call };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /**
   * Lets the time pass. What falls due is called in its order, and whatever follows from a call happens before the next
   * one.
   */
  async pass(ms: number): Promise<void> {
    const end = this.#nowMs + ms;
    for (let due = this.#firstUntil(end); due !== undefined; due = this.#firstUntil(end)) {
      this.#timers = this.#timers.filter((timer) => timer !== due);
      this.#nowMs = due.atMs;
      due.call();
      await turn();
    }
    this.#nowMs = end;
    await turn();
  }

  /** The process stands still: time has passed, and nothing was called. */
  standStill(ms: number): void {
    this.#nowMs += ms;
  }

  #firstUntil(end: number): Timer | undefined {
    const [first] = this.#timers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs);
    return first;
  }
}

/** Lets everything happen that has been promised by now. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
