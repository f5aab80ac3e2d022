import type { VirtualClock } from "./clock.ts";
import type { Random } from "./random.ts";

/** How long a peer may be out of reach before its stream ends (src/api/tls.ts). */
export const LONGEST_UNNOTICED_MS = 15_000;
/** A look that takes longer tells nothing in time (executor/master/staging-folder.ts). */
const LONGEST_LOOK_MS = 3_000;
/** A process that stands still does what has become due when it goes on. */
const FROZEN_MS = 500;

/** What a look into the staging folder tells; undefined: it cannot be reached. */
export type StagingNews = "still its task's" | "replaced" | undefined;

export interface AbsenceOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** `tony.task.isolation-timeout` */
  readonly isolationMs: number;
  readonly isFrozen: () => boolean;
  readonly look: () => StagingNews;
  /** The container is still its task's. */
  readonly reached: () => void;
  readonly replaced: () => void;
  /** Neither an ApplicationMaster nor the staging folder was reached for so long. */
  readonly isolated: () => void;
}

/** What an executor does while it hears no ApplicationMaster: executor/core/absence.ts in virtual time. */
export class Absence {
  readonly #options: AbsenceOptions;
  /** Changes with every absence, so that what was begun in an earlier one is known. */
  #number = 0;
  #isAway = false;
  #isolatedAtMs = 0;

  constructor(options: AbsenceOptions) {
    this.#options = options;
  }

  get isAway(): boolean {
    return this.#isAway;
  }

  /** The ApplicationMaster is lost: noticed now, it may have been out of reach for a while. */
  begin(): void {
    if (this.#isAway) {
      return;
    }
    this.#isAway = true;
    this.#number++;
    this.#awaitIsolation(this.#options.clock.nowMs - LONGEST_UNNOTICED_MS);
    this.#lookAfter(0, this.#patienceMs / 3);
  }

  /** An ApplicationMaster is heard, or the executor ends. */
  end(): void {
    this.#isAway = false;
    this.#number++;
  }

  get #patienceMs(): number {
    return Math.max(0, this.#options.isolationMs - LONGEST_UNNOTICED_MS);
  }

  #awaitIsolation(heardAtMs: number): void {
    const { clock, isolationMs } = this.#options;
    const dueMs = heardAtMs + isolationMs;
    this.#isolatedAtMs = dueMs;
    this.#after(dueMs - clock.nowMs, () => {
      if (dueMs === this.#isolatedAtMs) {
        this.#options.isolated();
      }
    });
  }

  #lookAfter(earliestMs: number, latestMs: number): void {
    const { clock, random, isolationMs, look, reached, replaced } = this.#options;
    this.#after(random.integer(Math.round(earliestMs), Math.round(latestMs)), () => {
      const lookedAtMs = clock.nowMs;
      const news = look();
      this.#after(random.integer(10, LONGEST_LOOK_MS), () => {
        if (news === undefined) {
          this.#lookAfter(this.#patienceMs / 15, this.#patienceMs / 3);
        } else if (news === "replaced") {
          this.end();
          replaced();
        } else {
          this.#awaitIsolation(lookedAtMs);
          this.#lookAfter(isolationMs / 4, isolationMs / 2);
          reached();
        }
      });
    });
  }

  /** In this absence, and by a process that runs. */
  #after(delayMs: number, act: () => void): void {
    const { clock, isFrozen } = this.#options;
    const absence = this.#number;
    clock.after(delayMs, () => {
      if (absence !== this.#number) {
        return;
      }
      if (isFrozen()) {
        this.#after(FROZEN_MS, act);
      } else {
        act();
      }
    });
  }
}
