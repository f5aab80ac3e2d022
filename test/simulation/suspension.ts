import type { VirtualClock } from "./clock.ts";

/** How long one program was kept suspended, and what it is to do when it goes on. */
export class Suspension {
  readonly #clock: VirtualClock;
  #sinceMs: number | undefined;
  #pastMs = 0;
  #due: (() => void)[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  get isOn(): boolean {
    return this.#sinceMs !== undefined;
  }

  get totalMs(): number {
    return this.#pastMs + (this.#sinceMs === undefined ? 0 : Math.max(1, this.#clock.nowMs - this.#sinceMs));
  }

  begin(): void {
    this.#sinceMs ??= this.#clock.nowMs;
  }

  /** @returns whether it was suspended */
  end(): boolean {
    if (this.#sinceMs === undefined) {
      return false;
    }
    this.#pastMs = this.totalMs;
    this.#sinceMs = undefined;
    for (const act of this.#due.splice(0)) {
      act();
    }
    return true;
  }

  /** Does this when the suspension is over, and not before. */
  whenOver(act: () => void): void {
    this.#due.push(act);
  }

  /** Does this once the program has run for that time. */
  after(runningMs: number, act: () => void): void {
    const beforeMs = this.totalMs;
    this.#clock.after(runningMs, () => {
      const missedMs = this.totalMs - beforeMs;
      if (missedMs > 0) {
        this.after(missedMs, act);
      } else {
        act();
      }
    });
  }
}
