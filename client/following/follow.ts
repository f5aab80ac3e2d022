import type { ExitCode } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { delayWords } from "../../src/job/reasons/waits.ts";
import { countWords, durationWords } from "../../src/job/reasons/words.ts";
import { hasEnded } from "../applications/applications.ts";
import { exitCodeOf, outcomeOf } from "../applications/outcome.ts";
import type { FollowOptions } from "./follow-options.ts";
import { FollowedMaster } from "./followed-master.ts";
import { JobStop } from "./job-stop.ts";
import { ManagerReports } from "./manager-reports.ts";

const shortestPauseMs = 100;
/** The pauses grow until a job has waited for this long. */
const eagerForMs = 30_000;
const patientPauseMs = 10_000;

/** How often the duration of a wait is updated. */
const shownEveryMs = 1_000;
/** The pause between two questions to a ResourceManager that does not answer. */
const silentPauseMs = 500;

/** Follows a job to its end and returns the exit code for how it ended. */
export async function follow(options: FollowOptions): Promise<ExitCode> {
  const { applications, id, sinceMs } = options;
  applications.askBriefly();
  const leaveTokens = applications.keepTokens?.(id, sinceMs);
  try {
    return await new Follower(options).run();
  } finally {
    leaveTokens?.();
  }
}

/**
 * Combines two sources: the ResourceManager's report before the AM runs and whenever it cannot be reached, and the AM's stream the
 * rest of the time, without asking the ResourceManager.
 */
class Follower {
  readonly #options: FollowOptions;
  readonly #reports: ManagerReports;
  readonly #master: FollowedMaster;
  readonly #jobStop: JobStop;
  #awake = new AbortController();
  #lateStartTold = false;
  /** The last report of a job that waits for its AM. */
  #waiting: ApplicationReport | undefined;
  /** When that AM was first seen to have a container: it starts soon. */
  #startingSinceMs: number | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#reports = new ManagerReports(options);
    this.#master = new FollowedMaster(options, () => this.#wake());
    this.#jobStop = new JobStop(options);
  }

  async run(): Promise<ExitCode> {
    const { stop } = this.#options;
    const wake = () => this.#wake();
    stop.addEventListener("abort", wake);
    const master = this.#master;
    try {
      for (;;) {
        if (master.refused !== undefined) throw master.refused;
        if (stop.aborted) await this.#jobStop.press(master.session);
        if (!master.isHeard) {
          const report = await this.#reports.ask(master.session?.state === "open");
          if (report !== undefined && hasEnded(report)) return await this.#finish(report);
          if (report !== undefined) await this.#look(report);
          master.tellSilence(report);
        }
        if (this.#jobStop.isOverdue) return this.#jobStop.leave();
        await this.#pause();
      }
    } finally {
      stop.removeEventListener("abort", wake);
      master.close();
    }
  }

  /** Acts on the report of an unfinished application: connects to its AM, or shows why there is none. */
  async #look(report: ApplicationReport): Promise<void> {
    const { view } = this.#options;
    const { session, outcome } = this.#master;
    view.trackingUrl(report.trackingUrl);
    this.#waiting = undefined;
    if (outcome !== undefined || session?.state === "open") return;
    if (report.state === "RUNNING") {
      await this.#master.find(report);
    } else {
      this.#waiting = report;
      const hasContainer = (report.usage?.usedContainers ?? 0) > 0;
      this.#startingSinceMs = hasContainer ? (this.#startingSinceMs ?? this.#options.now()) : undefined;
      await this.#wait(report);
    }
  }

  async #wait(report: ApplicationReport): Promise<void> {
    const { applications, now, sinceMs, startupLimitMs, view } = this.#options;
    const delay = await applications.waitingReason(report);
    const again =
      this.#master.session === undefined ? "" : "the AM is gone and YARN starts another, the tasks run on: ";
    view.waiting(report, `${again}${delayWords(delay)}`, delay);
    if (startupLimitMs !== undefined && now() - sinceMs > startupLimitMs) await this.#startedTooLate(startupLimitMs);
  }

  async #startedTooLate(limitMs: number): Promise<void> {
    const late = `not running after ${durationWords(limitMs)}`;
    if (!this.#lateStartTold) {
      this.#lateStartTold = true;
      this.#options.view.line(`The AM is ${late}: ending the job (tony.am.startup-timeout)`);
      this.#wake();
    }
    await this.#jobStop.kill(`${late} (tony.am.startup-timeout)`);
  }

  async #finish(report: ApplicationReport): Promise<ExitCode> {
    const { applications, ended: tellEnded, id, now, stop, view } = this.#options;
    await this.#master.finish();
    // What was heard is complete only when the last AM reported the outcome: the last moments of one that died are in the stored status.
    const kept = this.#master.session?.heardOutcome === true ? undefined : await applications.finalStatus(report);
    if (kept !== undefined) view.show(kept);
    this.#tellUnseen(await this.#showStored(report, this.#master.unseen(kept)));
    const outcome = outcomeOf(report, kept?.outcome ?? this.#master.outcome, now());
    const cleaned = await applications.clean(id).catch(() => "its staging folder is removed by your next command");
    const exitCode = exitCodeOf(outcome);
    tellEnded?.(exitCode);
    const ended = ["Ended: all containers are returned", ...(cleaned === "" ? [] : [cleaned])].join("; ");
    view.ended({ outcome, report, exitCode, ...(stop.aborted && { cleaned: ended }) });
    return exitCode;
  }

  /**
   * Where logs are readable as soon as a job has ended, this shows from there what a quick program printed before this client could
   * follow it.
   * @returns the remaining tasks, of which nobody knows whether they printed anything
   */
  async #showStored(report: ApplicationReport, unseen: readonly string[]): Promise<readonly string[]> {
    const { applications, view } = this.#options;
    const store = applications.logStore(report);
    const unread = store.isAtHand ? unseen.filter((task) => this.#master.isUnread(task)) : [];
    if (unread.length === 0) return unseen;
    const { storedLines } = await import("../../src/logs/stored-tasks.ts");
    for await (const { task, line } of storedLines(store, unread)) view.taskLine(task, line);
    return unseen.filter((task) => !unread.includes(task));
  }

  #tellUnseen([task, ...others]: readonly string[]): void {
    if (task === undefined) return;
    const { id, view } = this.#options;
    const whose = others.length === 0 ? task : `${task} and ${countWords(others.length, "other task")}`;
    const which = others.length === 0 ? task : "--logs all";
    view.line(`Output of ${whose} may be missing here; all of it: tony-ts logs ${id} ${which}`);
  }

  #wake(): void {
    this.#awake.abort();
  }

  /** Waits until something is heard, or was heard since the last pause, or it is time to ask again. */
  async #pause(): Promise<void> {
    const { signal } = this.#awake;
    // For one process that follows a thousand waiting jobs, updating the durations would be half of its work.
    const isTimed = this.#options.view.countsTime || this.#options.startupLimitMs !== undefined;
    const atOnceMs = isTimed ? shownEveryMs : Number.POSITIVE_INFINITY;
    for (let leftMs = this.#intervalMs(); leftMs > 0 && !signal.aborted; leftMs -= atOnceMs) {
      await (this.#options.sleep ?? sleep)(Math.min(leftMs, atOnceMs), signal);
      if (leftMs > atOnceMs && this.#waiting !== undefined) await this.#wait(this.#waiting);
    }
    this.#awake = new AbortController();
  }

  #intervalMs(): number {
    const { now, sinceMs, stop } = this.#options;
    const { outcome, session, isHeard } = this.#master;
    if (outcome !== undefined) return 50;
    if (isHeard) return 500;
    if (stop.aborted || this.#lateStartTold) return 250;
    const waitedMs = session?.silentMs ?? now() - (this.#startingSinceMs ?? sinceMs);
    const pauseMs = reportPauseMs(waitedMs);
    return this.#reports.areSilent ? Math.min(silentPauseMs, pauseMs) : pauseMs;
  }
}

/**
 * How long a waiting client leaves the ResourceManager alone: many people's jobs wait for hours, and all ask the same one. A typical start
 * is noticed late by a twentieth of its duration at most.
 * @param waitedMs how long there has been no other source of news about the job
 */
function reportPauseMs(waitedMs: number): number {
  return waitedMs < eagerForMs ? Math.max(shortestPauseMs, waitedMs / 20) : patientPauseMs;
}
