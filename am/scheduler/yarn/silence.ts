import type { WallClock } from "../../../src/hadoop/clock.ts";
import { formatHostPort, type HostPort } from "../../../src/hadoop/conf/values.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { askedWithoutEnd } from "../../../src/job/reasons/waits.ts";
import { durationWords } from "../../../src/job/reasons/words.ts";
import type { Wait } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import type { Log } from "../../../src/log.ts";

export interface SilenceOptions {
  /** The address of every ResourceManager. */
  readonly endpoints: readonly HostPort[];
  readonly clock: WallClock;
  readonly log: Log;
}

/** A single lost answer is not worth logging. */
const tellAfterMs = 1_000;
/** Between the first two log lines of a lasting silence; each further pause is twice as long. */
const firstPauseMs = 30_000;
const longestPauseMs = 15 * 60_000;

/** How long the ResourceManager has been silent, logged with growing pauses and shown as something that the job waits for. */
export class ResourceManagerSilence {
  readonly #options: SilenceOptions;
  #sinceMs: number | undefined;
  #answeredAtMs: number | undefined;
  #reason = "";
  #tellAtMs = 0;
  #pauseMs = 0;

  constructor(options: SilenceOptions) {
    this.#options = options;
  }

  /** A call was not answered. @param elapsedMs since it was first made */
  goesOn(error: unknown, elapsedMs: number): void {
    const nowMs = this.#options.clock.nowMs();
    this.#sinceMs ??= nowMs - elapsedMs;
    this.#reason = errorMessage(error);
    if (nowMs - this.#sinceMs < tellAfterMs || nowMs < this.#tellAtMs) return;
    this.#tell(this.#sinceMs, nowMs);
    this.#pauseMs = this.#pauseMs === 0 ? firstPauseMs : Math.min(longestPauseMs, 2 * this.#pauseMs);
    this.#tellAtMs = nowMs + this.#pauseMs;
  }

  /** A call was answered. */
  ends(): void {
    this.#answeredAtMs = this.#options.clock.nowMs();
    if (this.#pauseMs > 0 && this.#sinceMs !== undefined) {
      const lasted = durationWords(this.#answeredAtMs - this.#sinceMs);
      this.#options.log.info("resource-manager-back", `The ResourceManager answers again, after ${lasted}.`);
    }
    this.#sinceMs = undefined;
    this.#tellAtMs = 0;
    this.#pauseMs = 0;
  }

  /** When a call was last answered; undefined while none has been. */
  get answeredAtMs(): number | undefined {
    return this.#answeredAtMs;
  }

  /** What the job waits for because of it, once that was logged. */
  get waits(): readonly Wait[] {
    if (this.#sinceMs === undefined || this.#pauseMs === 0) return [];
    const unreachable = { code: "manager-unreachable", endpoints: this.#where, error: this.#reason } as const;
    const delays = [unreachable, { code: "asked-without-end" }] as const;
    return [waitOf({ reason: { code: "manager" }, delays, sinceMs: this.#sinceMs })];
  }

  get #where(): string {
    return this.#options.endpoints.map(formatHostPort).join(", ");
  }

  #tell(sinceMs: number, nowMs: number): void {
    const since = new Date(sinceMs).toISOString();
    const lasted = durationWords(nowMs - sinceMs);
    const said = `The ResourceManager (${this.#where}) has not answered for ${lasted}, since ${since}`;
    this.#options.log.warn("resource-manager-silent", `${said}: ${this.#reason}. Meanwhile ${askedWithoutEnd}.`);
  }
}
