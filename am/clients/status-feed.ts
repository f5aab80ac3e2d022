import type { Follower } from "../../src/api/client-endpoint.ts";
import { jobOutcome, jobStatus } from "../../src/api/status-codec.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";

/** The shortest time between two statuses; changes in between are sent together. */
const shortestIntervalMs = 100;

/** Without a change the status is sent this often: a follower that gets none for 5 s asks the ResourceManager. */
const longestIntervalMs = 1_000;

/** Sends the job's status to its followers whenever it changes, and its outcome at the end. */
export class StatusFeed {
  readonly #status: () => JobStatus;
  readonly #clock: WallClock;
  readonly #followers = new Set<Follower>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #pending: (() => void) | undefined;
  #outcome: Uint8Array | undefined;

  constructor(status: () => JobStatus, clock: WallClock) {
    this.#status = status;
    this.#clock = clock;
  }

  /** Sends the status now and after each change. @returns stops that */
  follow(follower: Follower): () => void {
    follower.status(jobStatus.encode(this.#status()));
    if (this.#outcome !== undefined) follower.outcome(this.#outcome);
    else this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** The status has changed. */
  changed(): void {
    if (this.#followers.size === 0 || this.#pending !== undefined) return;
    const waitMs = this.#lastMs + shortestIntervalMs - this.#clock.nowMs();
    if (waitMs <= 0) {
      this.#publish();
      return;
    }
    this.#pending = this.#clock.after(waitMs, () => {
      this.#pending = undefined;
      this.#publish();
    });
  }

  /** To be called regularly: sends the status when none was sent for a while. */
  refresh(): void {
    if (this.#pending === undefined && this.#clock.nowMs() - this.#lastMs >= longestIntervalMs) this.#publish();
  }

  /** Sends the last status and the outcome. */
  finish(outcome: JobOutcome): void {
    this.#pending?.();
    this.#publish();
    this.#outcome = jobOutcome.encode(outcome);
    for (const follower of this.#followers) follower.outcome(this.#outcome);
    this.#followers.clear();
  }

  /** Encodes the status once for all followers. */
  #publish(): void {
    this.#lastMs = this.#clock.nowMs();
    if (this.#followers.size === 0) return;
    const status = jobStatus.encode(this.#status());
    for (const follower of this.#followers) follower.status(status);
  }
}
