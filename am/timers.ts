import type { Clock } from "./clock.ts";

/** Timers by name: setting a name again moves it, and each fires once. */
export class NamedTimers {
  readonly #clock: Clock;
  readonly #fired: (name: string) => void;
  readonly #running = new Map<string, () => void>();

  constructor(clock: Clock, fired: (name: string) => void) {
    this.#clock = clock;
    this.#fired = fired;
  }

  set(name: string, delayMs: number): void {
    this.clear(name);
    const cancel = this.#clock.after(delayMs, () => {
      this.#running.delete(name);
      this.#fired(name);
    });
    this.#running.set(name, cancel);
  }

  clear(name: string): void {
    this.#running.get(name)?.();
    this.#running.delete(name);
  }

  clearAll(): void {
    for (const name of [...this.#running.keys()]) this.clear(name);
  }
}
