import { errorMessage } from "../src/hadoop/errors.ts";
import type { JobOutcome, JobStatus } from "../src/job/status.ts";
import type { Log } from "../src/log.ts";
import { inTime } from "./bounded.ts";
import type { Sessions } from "./clients/sessions.ts";
import type { LogTails } from "./executors/log-tails.ts";
import type { MasterEndpoint } from "./master-endpoint.ts";
import type { Scheduler } from "./scheduler/scheduler.ts";
import type { JournalWriter } from "./storage/journal.ts";
import type { Staging } from "./storage/staging.ts";

export interface JobEndOptions {
  readonly log: Log;
  /** Whether the job runs with the local scheduler. */
  readonly local: boolean;
  /** The status, with the outcome once there is one. */
  readonly status: () => JobStatus;
  readonly closeHistory: () => Promise<void>;
  /** Stores what a search leaves. */
  readonly storeTrials: () => Promise<void>;
  /** Records beside the feeds' results what is missing of them. */
  readonly endFeeds: () => Promise<void>;
  /** Tells other systems of the end, or logs what they were not told when that time is up. */
  readonly lastNotices: (limitMs: number) => Promise<void>;
  /** Those of trials that need none any more. */
  readonly removeCheckpoints: () => Promise<void>;
  /** Uploads that executors could not finish. */
  readonly removeUnfinishedUploads: () => Promise<void>;
  readonly sessions: Pick<Sessions, "endAll">;
  readonly tails: Pick<LogTails, "endAll" | "abort">;
  readonly journals: readonly Pick<JournalWriter, "settled">[];
  readonly staging: Pick<Staging, "keepResult" | "remove">;
  readonly scheduler: Pick<Scheduler, "close">;
  readonly endpoint: Pick<MasterEndpoint, "close">;
}

/** How long slow readers and a file system that does not answer may each delay the job's end. */
const lastLogsMs = 5_000;
const lastReadersMs = 1_000;
const historyMs = 5_000;
const stagingMs = 10_000;
const uploadsMs = 5_000;
const checkpointsMs = 10_000;
const noticesMs = 10_000;
/** The part of that time for logging what is lost. */
const lostNoticesMs = 500;
const trialsMs = 5_000;
const feedsMs = 10_000;

/** What an ApplicationMaster still does once its job's outcome is decided. A step that fails does not prevent the next. */
export class JobEnd {
  readonly #options: JobEndOptions;
  #hasBegun = false;
  #outcome: JobOutcome | undefined;
  /** The write of the job's history. */
  #historyClosed: Promise<void> | undefined;
  #noticesSent: Promise<void> | undefined;
  #trialsStored: Promise<void> | undefined;
  #feedsEnded: Promise<void> | undefined;

  constructor(options: JobEndOptions) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Also set when a bug ends the job without the core. */
  get outcome(): JobOutcome | undefined {
    return this.#outcome;
  }

  /**
   * The steps before the ResourceManager is told. The history is closed in parallel with that: only this process's exit waits for its
   * file system.
   */
  async begin(outcome: JobOutcome): Promise<void> {
    const { sessions, tails, closeHistory, lastNotices, storeTrials, endFeeds } = this.#options;
    this.#hasBegun = true;
    this.#outcome = outcome;
    sessions.endAll("the job has ended");
    this.#historyClosed = this.#bounded(historyMs, "closing the history", closeHistory());
    this.#trialsStored = this.#bounded(trialsMs, "storing the trials", storeTrials());
    this.#feedsEnded = this.#bounded(feedsMs, "ending the feeds", endFeeds());
    this.#noticesSent = this.#bounded(
      noticesMs,
      "telling other systems of the end",
      lastNotices(noticesMs - lostNoticesMs),
    );
    await this.#bounded(lastLogsMs, "sending the last of the logs", tails.endAll());
    tails.abort();
  }

  /** The steps after it; then this process may exit. @param cleanStaging whether nobody needs the staging folder any more */
  async complete(cleanStaging: boolean): Promise<void> {
    const { local, staging, status, scheduler, endpoint, removeCheckpoints, removeUnfinishedUploads } = this.#options;
    this.#hasBegun = true;
    const isLast = local || cleanStaging;
    const checkpointsRemoved = isLast && this.#bounded(checkpointsMs, "removing checkpoints", removeCheckpoints());
    const uploadsRemoved = isLast && this.#bounded(uploadsMs, "removing unfinished uploads", removeUnfinishedUploads());
    await Promise.all([this.#historyClosed, this.#trialsStored, this.#feedsEnded]);
    if (local) {
      await this.#bounded(stagingMs, "writing status.json", staging.keepResult(status()));
    } else if (cleanStaging) {
      await this.#bounded(stagingMs, "removing the staging folder", this.#removeStaging());
    }
    await Promise.all([checkpointsRemoved, uploadsRemoved, this.#noticesSent]);
    await inTime(lastReadersMs, "closing the scheduler", scheduler.close()).catch(() => {});
    await endpoint.close(lastReadersMs);
  }

  async #removeStaging(): Promise<void> {
    await Promise.all(this.#options.journals.map((journal) => journal.settled()));
    await this.#options.staging.remove();
  }

  /** Logs a failure and goes on with the end. */
  async #bounded(limitMs: number, what: string, work: Promise<void>): Promise<void> {
    try {
      await inTime(limitMs, "it", work);
    } catch (error) {
      this.#options.log.warn("ending", `Failed: ${what}: ${errorMessage(error)}`);
    }
  }
}
