import { LONGEST_UNNOTICED_MS } from "../../src/api/tls.ts";
import { callAfter } from "../../src/hadoop/clock.ts";
import type { MasterAddress } from "./master-address.ts";
import type { StagingNews } from "./staging-folder.ts";

export interface MasterAbsenceOptions {
  /** Until the job's own are known: no program runs before that. */
  readonly limits: AbsenceLimits;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Milliseconds that never run backwards. */
  readonly monotonicMs: () => number;
  /** Looks into the staging folder; undefined when it cannot be reached. */
  readonly lookIntoStaging: () => Promise<StagingNews | undefined>;
  readonly found: (master: MasterAddress) => void;
  /** The staging folder was reached, and the container is still its task's. */
  readonly reached: () => void;
  /** The task runs in another container. */
  readonly replaced: () => void;
  /** Neither an ApplicationMaster nor the staging folder was reached for so long. */
  readonly isolated: (silentMs: number) => void;
  /** No ApplicationMaster for this long. */
  readonly orphaned: (silentMs: number) => void;
}

/** How long an executor waits for an ApplicationMaster, as the job sets it. */
export interface AbsenceLimits {
  /** `tony.task.orphan-timeout` */
  readonly orphanMs: number;
  /** `tony.task.isolation-timeout`, longer in a job of many tasks: looks into the staging folder are as far apart as it allows. */
  readonly isolationMs: number;
}

/** The shortest time between two reads of the staging folder. */
const LEAST_PAUSE_MS = 250;
/** A timer that is later than this shows that the process was stopped: that time is no absence of the ApplicationMaster. */
const LATE_MS = 5_000;
/** After such a stop the executor searches for this long before it gives up. */
const AFTER_SLEEP_MS = 60_000;

/**
 * What an executor does while it is connected to no ApplicationMaster. It reads the staging folder, at random times so that thousands of
 * executors do not do so at once: for the address of a later attempt, and for whether its container is still its task's. It measures how
 * long it has reached neither.
 */
export class MasterAbsence {
  readonly #options: MasterAbsenceOptions;
  limits: AbsenceLimits;
  #sinceMs = 0;
  /** Different for every absence, so that the result of a read that began in an earlier one is ignored. */
  #number = 0;
  #look: NodeJS.Timeout | undefined;
  /** Each cancels its timer. */
  #isolation: (() => void) | undefined;
  #orphan: (() => void) | undefined;

  constructor(options: MasterAbsenceOptions) {
    this.#options = options;
    this.limits = options.limits;
  }

  /** The connection is lost. It is noticed now, and may have been broken for a while. */
  begin(): void {
    this.end();
    this.#sinceMs = this.#options.monotonicMs();
    this.#awaitOrphan(this.limits.orphanMs);
    this.#awaitIsolation(this.#sinceMs - LONGEST_UNNOTICED_MS);
    this.#scheduleLook(0, this.#patienceMs / 3);
  }

  /** An ApplicationMaster has welcomed the executor, or the executor ends. */
  end(): void {
    this.#number += 1;
    clearTimeout(this.#look);
    this.#isolation?.();
    this.#orphan?.();
  }

  /** The time left to reach the staging folder if the loss was noticed as late as possible. */
  get #patienceMs(): number {
    return Math.max(0, this.limits.isolationMs - LONGEST_UNNOTICED_MS);
  }

  #awaitOrphan(delayMs: number): void {
    this.#orphan?.();
    const dueMs = this.#options.monotonicMs() + delayMs;
    this.#orphan = callAfter(delayMs, () => {
      const nowMs = this.#options.monotonicMs();
      if (nowMs - dueMs > LATE_MS) this.#awaitOrphan(Math.min(this.limits.orphanMs, AFTER_SLEEP_MS));
      else this.#options.orphaned(nowMs - this.#sinceMs);
    });
  }

  /** A late timer counts here: a process that was stopped has reached nobody in that time. */
  #awaitIsolation(heardAtMs: number): void {
    const { monotonicMs, isolated } = this.#options;
    this.#isolation?.();
    const leftMs = Math.max(0, heardAtMs + this.limits.isolationMs - monotonicMs());
    this.#isolation = callAfter(leftMs, () => isolated(monotonicMs() - heardAtMs));
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
