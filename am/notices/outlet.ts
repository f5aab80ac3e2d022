import { type BackOff, backOffMs } from "../../src/hadoop/back-off.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { JobStatus } from "../../src/job/status.ts";

/** A system of others' that is told of the job. Nothing of the job depends on it. */
export interface Outlet {
  /** To be called regularly; does not wait. */
  look(status: JobStatus): void;
  /** Resolves when all is told or given up. @param status with the outcome */
  end(status: JobStatus): Promise<void>;
  /** Says what is not told: nobody waits any longer. */
  giveUp(): void;
}

export interface OutletOptions {
  readonly url: string;
  /** The job's. */
  readonly user: string;
  /** The secrets of the job's programs, by the names of their variables: those that the system's own clients read are used. */
  readonly variables: Readonly<Record<string, string>>;
  readonly clock: Pick<WallClock, "nowMs"> & { readonly random: () => number };
  /** Told of each kind of failure once. */
  readonly warn: (message: string) => void;
}

const pauses: BackOff = { firstMs: 10_000, mostMs: 300_000 };

/** Tells what is so now, one round after the other: while one is under way, and for a while after one that failed, none begins. */
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

  /** Rejects with whatever kept it from being told; the next round tells it. */
  protected abstract tell(status: JobStatus): Promise<void>;

  look(status: JobStatus): void {
    if (this.#round !== undefined || this.#options.clock.nowMs() < this.#notBeforeMs) return;
    void this.#begin(status);
  }

  /** Resolves when a first round has told of it, or could not. */
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
