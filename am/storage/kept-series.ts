import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { decodeSeries, type JobSeries } from "../../src/history/series/file.ts";
import type { Log } from "../../src/log.ts";
import type { Staging } from "./staging.ts";

/** What this attempt has heard. */
interface GrowingSeries {
  /** The time that one of its values spans. */
  readonly spanMs: number;
  encode(applicationId: string, attempt: number): Promise<Uint8Array>;
  goOnFrom(earlier: JobSeries): void;
}

export interface KeptSeriesOptions {
  readonly applicationId: string;
  readonly attempt: number;
  readonly series: GrowingSeries;
  readonly staging: Pick<Staging, "keepSeries" | "keptSeries">;
  readonly clock: Pick<WallClock, "nowMs">;
  readonly log: Log;
}

/**
 * The NameNode is asked for a file this often at most, and a chart loses no more of an attempt than this time, or one of its
 * values.
 */
const EACH_MS = 60_000;
/** Two looks this far apart may belong to an attempt that was replaced while it was paused. */
const LATE_MS = 5_000;

/** Copies in the staging folder of what is known of tasks over time, from which a later attempt goes on. */
export class KeptSeries {
  readonly #options: KeptSeriesOptions;
  #lookedAtMs: number;
  #dueMs: number;
  #isOver = false;
  #underWay: Promise<void> | undefined;

  constructor(options: KeptSeriesOptions) {
    this.#options = options;
    this.#lookedAtMs = options.clock.nowMs();
    this.#dueMs = this.#lookedAtMs + EACH_MS;
  }

  /** Goes on from the copy of the latest earlier attempt that kept one. */
  async recover(): Promise<void> {
    const { attempt, series, staging, log } = this.#options;
    try {
      const kept = await staging.keptSeries(attempt);
      if (kept !== undefined) series.goOnFrom(decodeSeries(kept));
    } catch (error) {
      log.warn("series-not-recovered", `What tasks used before this attempt cannot be read: ${errorMessage(error)}`);
    }
  }

  /** Makes a copy when one is due. */
  look(): void {
    const { clock, series } = this.#options;
    const [nowMs, beforeMs] = [clock.nowMs(), this.#lookedAtMs];
    this.#lookedAtMs = nowMs;
    if (nowMs - beforeMs > LATE_MS) this.#dueMs = nowMs + EACH_MS;
    if (this.#isOver || this.#underWay !== undefined || nowMs < this.#dueMs) return;
    this.#dueMs = nowMs + Math.max(EACH_MS, series.spanMs);
    this.#underWay = this.#keep().finally(() => {
      this.#underWay = undefined;
    });
  }

  /** Resolves when no copy is under way. */
  async copied(): Promise<void> {
    await this.#underWay;
  }

  /** The same, and none is made from now on. */
  async settled(): Promise<void> {
    this.#isOver = true;
    await this.copied();
  }

  async #keep(): Promise<void> {
    const { applicationId, attempt, series, staging, log } = this.#options;
    try {
      await staging.keepSeries(attempt, await series.encode(applicationId, attempt));
    } catch (error) {
      log.warn(
        "series-not-kept",
        `What tasks use over time cannot be kept for a later attempt: ${errorMessage(error)}`,
      );
    }
  }
}
