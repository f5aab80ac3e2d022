import { type BackOff, backOffMs } from "../../src/hadoop/back-off.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { JobStatus } from "../../src/job/status.ts";

/** An external system that is told of the job. Nothing in the job depends on it. */
export interface Outlet {
  /** To be called regularly; does not wait. */
  look(status: JobStatus): void;
  /** Resolves when everything is sent or given up. @param status with the outcome */
  end(status: JobStatus): Promise<void>;
  /** Logs what is not sent: nobody waits any longer. */
  giveUp(): void;
}

export interface OutletOptions {
  readonly url: string;
  /** The job's user. */
  readonly user: string;
  /** The secrets of the job's programs, by the names of their variables; those that the system's own clients read are used. */
  readonly variables: Readonly<Record<string, string>>;
  readonly clock: Pick<WallClock, "nowMs"> & { readonly random: () => number };
  /** Called once for each kind of failure. */
  readonly warn: (message: string) => void;
}

const pauses: BackOff = { firstMs: 10_000, mostMs: 300_000 };

/**
 * Sends the present state in rounds, one after the other: none begins while one is under way, nor for a while after one that
 * failed.
 */
export abstract class RepeatedOutlet implements Outlet {
  readonly #options: Pick<OutletOptions, "clock" | "warn">;
  readonly #everyMs: number;
  #round: Promise<void> | undefined;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #warned: string | undefined;

  constructor(options: Pick<OutletOptions, "clock" | "warn">, everyMs: number) {
    this.#options = options;
    this.#everyMs = everyMs;
  }

  /** Rejects with the reason why it could not be sent; the next round sends it. */
  protected abstract tell(status: JobStatus): Promise<void>;

  look(status: JobStatus): void {
    if (this.#round !== undefined || this.#options.clock.nowMs() < this.#notBeforeMs) return;
    void this.#begin(status);
  }

  /** Resolves when a first round has sent it, or could not. */
  told(status: JobStatus): Promise<void> {
    return this.#begin(status);
  }

  async end(status: JobStatus): Promise<void> {
    await this.#round;
    await this.#begin(status);
  }

  giveUp(): void {
    this.#options.warn("it has not answered by the job's end");
  }

  #begin(status: JobStatus): Promise<void> {
    const round = this.#tellOrWait(status).finally(() => {
      this.#round = undefined;
    });
    this.#round = round;
    return round;
  }

  async #tellOrWait(status: JobStatus): Promise<void> {
    const { clock, warn } = this.#options;
    try {
      await this.tell(status);
      this.#failures = 0;
      this.#warned = undefined;
      this.#notBeforeMs = clock.nowMs() + this.#everyMs;
    } catch (error) {
      this.#failures += 1;
      this.#notBeforeMs = clock.nowMs() + backOffMs(pauses, this.#failures, clock.random());
      const message = errorMessage(error);
      if (message !== this.#warned) warn(message);
      this.#warned = message;
    }
  }
}
