import { LONGEST_UNNOTICED_MS } from "../src/api/tls.ts";
import type { MasterAddress } from "./master-address.ts";
import type { StagingNews } from "./staging-folder.ts";

export interface MasterAbsenceOptions {
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Milliseconds that never run backwards. */
  readonly monotonicMs: () => number;
  /** Looks into the staging folder; undefined when it cannot be reached. */
  readonly lookIntoStaging: () => Promise<StagingNews | undefined>;
  readonly found: (master: MasterAddress) => void;
  /** The staging folder was reached, and the container is still its task's. */
  readonly reached: () => void;
  /** The task lives on in another container. */
  readonly replaced: () => void;
  /** Neither an ApplicationMaster nor the staging folder was reached for so long. */
  readonly isolated: (silentMs: number) => void;
  /** No ApplicationMaster for this long. */
  readonly orphaned: (silentMs: number) => void;
}

/** How long an executor does without whom it needs; the job says so. */
export interface AbsenceLimits {
  /** `tony.task.orphan-timeout` */
  readonly orphanMs: number;
  /** `tony.task.isolation-timeout` */
  readonly isolationMs: number;
}

/** Until the job's own are known: no program runs before. */
const FIRST_LIMITS: AbsenceLimits = { orphanMs: 900_000, isolationMs: 30_000 };
/** Between two looks, whatever the job's limits are. */
const LEAST_PAUSE_MS = 250;
/** A timer this late was slept over, by a stopped process: nobody can be said to have been away for that time. */
const LATE_MS = 5_000;
/** After that an executor looks around again before it ends. */
const AFTER_SLEEP_MS = 60_000;

/**
 * What an executor does while it hears no ApplicationMaster. It looks into the staging folder, at random moments so that thousands do not
 * look at once: for a later attempt, and for whether its container is still its task's. It counts how long it has reached nobody.
 */
export class MasterAbsence {
  readonly #options: MasterAbsenceOptions;
  limits = FIRST_LIMITS;
  #sinceMs = 0;
  /** Changes with every absence, so that a look that was begun in an earlier one is known. */
  #number = 0;
  #look: NodeJS.Timeout | undefined;
  #isolation: NodeJS.Timeout | undefined;
  #orphan: NodeJS.Timeout | undefined;

  constructor(options: MasterAbsenceOptions) {
    this.#options = options;
  }

  /** The ApplicationMaster is lost: noticed now, it may have been out of reach for a while. */
  begin(): void {
    this.end();
    this.#sinceMs = this.#options.monotonicMs();
    this.#awaitOrphan(this.limits.orphanMs);
    this.#awaitIsolation(this.#sinceMs - LONGEST_UNNOTICED_MS);
    this.#scheduleLook(0, this.#patienceMs / 3);
  }

  /** An ApplicationMaster is heard, or the executor ends. */
  end(): void {
    this.#number += 1;
    for (const timer of [this.#look, this.#isolation, this.#orphan]) clearTimeout(timer);
  }

  /** What is left to reach the staging folder in when the loss is noticed late. */
  get #patienceMs(): number {
    return Math.max(0, this.limits.isolationMs - LONGEST_UNNOTICED_MS);
  }

  #awaitOrphan(delayMs: number): void {
    clearTimeout(this.#orphan);
    const dueMs = this.#options.monotonicMs() + delayMs;
    this.#orphan = setTimeout(() => {
      const nowMs = this.#options.monotonicMs();
      if (nowMs - dueMs > LATE_MS) this.#awaitOrphan(Math.min(this.limits.orphanMs, AFTER_SLEEP_MS));
      else this.#options.orphaned(nowMs - this.#sinceMs);
    }, delayMs);
  }

  /** One that comes late is no reason to wait: whoever slept has reached nobody meanwhile. */
  #awaitIsolation(heardAtMs: number): void {
    const { monotonicMs, isolated } = this.#options;
    clearTimeout(this.#isolation);
    const leftMs = Math.max(0, heardAtMs + this.limits.isolationMs - monotonicMs());
    this.#isolation = setTimeout(() => isolated(monotonicMs() - heardAtMs), leftMs);
  }

  #scheduleLook(earliestMs: number, latestMs: number): void {
    const delayMs = earliestMs + (latestMs - earliestMs) * this.#options.random();
    this.#look = setTimeout(() => void this.#lookOnce(this.#number), Math.max(LEAST_PAUSE_MS, delayMs));
  }

  async #lookOnce(absence: number): Promise<void> {
    const { monotonicMs, lookIntoStaging, found, reached, replaced } = this.#options;
    const lookedAtMs = monotonicMs();
    const news = await lookIntoStaging();
    if (absence !== this.#number) return;
    if (news?.isReplaced === true) {
      this.end();
      replaced();
      return;
    }
    if (news === undefined) {
      this.#scheduleLook(this.#patienceMs / 15, this.#patienceMs / 3);
      return;
    }
    this.#awaitIsolation(lookedAtMs);
    this.#scheduleLook(this.limits.isolationMs / 4, this.limits.isolationMs / 2);
    reached();
    if (news.master !== undefined) found(news.master);
  }
}
