import type { WallClock } from "../../src/hadoop/clock.ts";
import type { VirtualClock } from "./clock.ts";

/** A process on one of the model's machines, with that machine's clock. It may stand still for a while, and it dies once. */
export class Process implements WallClock {
  alive = true;
  readonly #clock: VirtualClock;
  /** By how much its machine's clock is ahead. */
  readonly #skewMs: number;
  /** When it goes on, or last went on. */
  #stoppedUntilMs = 0;
  /** What happened to it while it stood still, oldest first: it notices when it goes on. */
  #missed: (() => void)[] = [];

  constructor(clock: VirtualClock, skewMs: number) {
    this.#clock = clock;
    this.#skewMs = skewMs;
  }

  /** Whether it stands still, or stood still within that time. */
  wasStoppedWithin(durationMs: number): boolean {
    return this.#clock.nowMs < this.#stoppedUntilMs + durationMs;
  }

  get isStopped(): boolean {
    return this.#clock.nowMs < this.#stoppedUntilMs;
  }

  /** When it last went on after it had stood still, by its own clock. */
  get wokeAtMs(): number {
    return this.#stoppedUntilMs + this.#skewMs;
  }

  nowMs(): number {
    return this.#clock.nowMs + this.#skewMs;
  }

  after(delayMs: number, call: () => void): () => void {
    let isOff = false;
    this.#clock.after(delayMs, () => {
      if (!isOff) {
        this.reach(() => isOff || call());
      }
    });
    return () => {
      isOff = true;
    };
  }

  /** A call reaches it from outside: it is noticed at once, or when the process goes on, or never. */
  reach(call: () => void): void {
    if (!this.alive) {
      return;
    }
    if (this.isStopped || this.#missed.length > 0) {
      this.#missed.push(call);
    } else {
      call();
    }
  }

  /** Makes it stand still, as under SIGSTOP. */
  stopFor(durationMs: number): void {
    this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.#clock.nowMs + durationMs);
    this.#clock.after(durationMs, () => this.#goOn());
  }

  kill(): void {
    this.alive = false;
    this.#missed = [];
  }

  #goOn(): void {
    while (this.alive && !this.isStopped) {
      const call = this.#missed[0];
      if (call === undefined) {
        return;
      }
      call();
      this.#missed.shift();
    }
  }
}
