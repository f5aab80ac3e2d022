import type { MonotonicClock } from "../../src/hadoop/clock.ts";

/** A clock whose time passes only in sleeps, which end at once. */
export class ManualClock implements MonotonicClock {
  readonly sleepsMs: number[] = [];
  #nowMs = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  random(): number {
    return 0.5;
  }

  async sleep(delayMs: number): Promise<void> {
    this.sleepsMs.push(delayMs);
    this.#nowMs += delayMs;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
