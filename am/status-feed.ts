import type { Follower } from "../src/api/client-endpoint.ts";
import { jobOutcome, jobStatus } from "../src/api/status-codec.ts";
import type { JobOutcome, JobStatus } from "../src/job/status.ts";
import type { Clock } from "./clock.ts";

/** Between two statuses; what changes in between is told together. */
const shortestIntervalMs = 100;

/** Without a change a follower hears this often that somebody is there: after 5 s of silence it looks elsewhere. */
const longestIntervalMs = 1_000;

/** Tells those who follow the job how it stands, whenever that changes, and in the end its outcome. */
export class StatusFeed {
  readonly #status: () => JobStatus;
  readonly #clock: Clock;
  readonly #followers = new Set<Follower>();
  #lastMs = Number.NEGATIVE_INFINITY;
  #pending: (() => void) | undefined;
  #outcome: Uint8Array | undefined;

  constructor(status: () => JobStatus, clock: Clock) {
    this.#status = status;
    this.#clock = clock;
  }

  /** Tells how the job stands now, and from now on. @returns ends it */
  follow(follower: Follower): () => void {
    follower.status(jobStatus.encode(this.#status()));
    if (this.#outcome !== undefined) follower.outcome(this.#outcome);
    else this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /** Something that people see has changed. */
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

  /** To be called now and then: says how it stands when nothing was said for a while. */
  refresh(): void {
    if (this.#pending === undefined && this.#clock.nowMs() - this.#lastMs >= longestIntervalMs) this.#publish();
  }

  /** The last thing that is told. */
  finish(outcome: JobOutcome): void {
    this.#pending?.();
    this.#publish();
    this.#outcome = jobOutcome.encode(outcome);
    for (const follower of this.#followers) follower.outcome(this.#outcome);
    this.#followers.clear();
  }

  /** Encoded once for all. */
  #publish(): void {
    this.#lastMs = this.#clock.nowMs();
    if (this.#followers.size === 0) return;
    const status = jobStatus.encode(this.#status());
    for (const follower of this.#followers) follower.status(status);
  }
}
