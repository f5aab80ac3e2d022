import type { WallClock } from "../../../src/hadoop/clock.ts";

/**
 * Sends heartbeats one after the other, each after the pause that the one before returned, and at once when there is
 * something to say.
 */
export class HeartbeatLoop {
  readonly #clock: WallClock;
  readonly #beat: () => Promise<number>;
  #running: Promise<void> | undefined;
  #ended = false;
  #woken = false;
  #wake: () => void = () => {};

  /** @param beat sends one, and returns how long to wait before the next, in ms; never rejects */
  constructor(clock: WallClock, beat: () => Promise<number>) {
    this.#clock = clock;
    this.#beat = beat;
  }

  /** Whether no further one begins. */
  get ended(): boolean {
    return this.#ended;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Sends the next one at once, or right after the one under way. */
  now(): void {
    this.#woken = true;
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** Resolves when the one under way has its answer. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#ended) {
      const pauseMs = await this.#beat();
      await this.#pause(pauseMs);
    }
  }

  async #pause(pauseMs: number): Promise<void> {
    if (this.#woken || this.#ended) {
      this.#woken = false;
      // The effects of one step are asked for together: one heartbeat carries them all.
      await new Promise<void>((resolve) => setImmediate(resolve));
      return;
    }
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(pauseMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#woken = false;
  }
}

/** Containers are allocated at a node's heartbeat and reported at ours, so both delay a start. */
const eagerMs = 200;
const idleMs = 1_000;
/** While others' jobs occupy the cluster for hours. */
const patientMs = 2_000;

/**
 * How often the ResourceManager receives a heartbeat: often while containers are awaited, and less and less often the longer that lasts.
 */
export class HeartbeatPace {
  #awaitedSinceMs: number | undefined;

  /** @returns how long to wait before the next heartbeat. @param awaited whether containers that were asked for are still to come */
  next(awaited: boolean, nowMs: number): number {
    if (!awaited) {
      this.#awaitedSinceMs = undefined;
      return idleMs;
    }
    this.#awaitedSinceMs ??= nowMs;
    const waitedMs = nowMs - this.#awaitedSinceMs;
    return Math.min(Math.max(eagerMs, waitedMs / 30), patientMs);
  }
}
