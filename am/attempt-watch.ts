import type { WallClock } from "../src/hadoop/clock.ts";
import { durationWords } from "../src/job/reasons/words.ts";

export interface AttemptWatchOptions {
  readonly attempt: number;
  /** How long YARN waits for an ApplicationMaster before it starts the next attempt (`yarn.am.liveness-monitor.expiry-interval-ms`). */
  readonly expiryMs: number;
  /** `tony.task.isolation-timeout` */
  readonly isolationMs: number;
  readonly clock: WallClock;
  /** When the ResourceManager last answered; undefined where there is none. */
  readonly answeredAtMs: () => number | undefined;
  /** The latest attempt that has left its address in the staging folder. Rejects where the folder cannot be read. */
  readonly latestAttempt: () => Promise<number>;
  /** This attempt is over, or nobody can say that it is not. */
  readonly over: (reason: string) => void;
}

/**
 * A ResourceManager that has not heard from an ApplicationMaster for long starts another one, and cannot tell the first if the network between
 * them is cut. So the first looks for a later attempt in the staging folder, as its executors would. If the folder cannot be read either, it
 * gives way when YARN's time is up: its executors then reach nobody, and suspend what would run beside the next attempt's programs.
 */
export class AttemptWatch {
  readonly #options: AttemptWatchOptions;
  /** When the ResourceManager or the staging folder was last reached. */
  #reachedAtMs: number;
  #lookAgainAtMs = 0;
  #isLooking = false;
  #isOver = false;

  constructor(options: AttemptWatchOptions) {
    this.#options = options;
    this.#reachedAtMs = options.clock.nowMs();
  }

  /**
   * This process stood still: that it read nothing meanwhile says nothing. But YARN's time has gone on, counted from the last heartbeat that was
   * answered.
   */
  stoodStill(): void {
    this.#reachedAtMs = this.#options.clock.nowMs();
  }

  /** To be called at least once a second. */
  tick(): void {
    const { clock, expiryMs, isolationMs, answeredAtMs } = this.#options;
    const nowMs = clock.nowMs();
    const silentMs = nowMs - (answeredAtMs() ?? nowMs);
    if (silentMs === 0 || silentMs < expiryMs - isolationMs) {
      this.#reachedAtMs = nowMs;
    } else if (silentMs >= expiryMs && nowMs - this.#reachedAtMs >= Math.min(isolationMs, expiryMs)) {
      const said = `The ResourceManager has not answered for ${durationWords(silentMs)}, and the staging folder cannot be read`;
      this.#end(`${said}: another attempt may have taken over.`);
    } else if (!this.#isLooking && nowMs >= this.#lookAgainAtMs) {
      void this.#look(nowMs);
    }
  }

  async #look(nowMs: number): Promise<void> {
    const { attempt, isolationMs, latestAttempt } = this.#options;
    this.#isLooking = true;
    this.#lookAgainAtMs = nowMs + isolationMs / 3;
    try {
      const latest = await latestAttempt();
      this.#reachedAtMs = nowMs;
      if (latest > attempt) this.#end(`Attempt ${latest} has taken over, and the ResourceManager does not answer.`);
    } catch {
      // A later look shows whether it stays out of reach.
    }
    this.#isLooking = false;
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.over(reason);
  }
}
