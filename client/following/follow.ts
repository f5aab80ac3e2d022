import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import { type Applications, hasEnded, type MasterContact } from "../applications/applications.ts";
import { exitCodeOf, outcomeOf } from "../applications/outcome.ts";
import { type LogSelection, noSuchTask, selectTasks, taskNames } from "../logs/log-selection.ts";
import { TaskTails, type TaskTailsOptions } from "../logs/task-tails.ts";
import type { MasterLink } from "../master/master-link.ts";
import { MasterSession } from "../master/master-session.ts";
import { formatClock } from "../output/format.ts";
import type { FollowListener } from "./follow-listener.ts";

/** After this the AM's, or the ResourceManager's, silence is told. */
const tellSilenceAfterMs = 5_000;
/** Nobody answered for so long: what became of the job is unknown. */
const giveUpAfterMs = 600_000;
/** From the request to stop, or by when the AM says that the programs are stopped, until we leave. */
const stopLimitMs = 15_000;
/** An AM that was asked to stop and does not say that it does gets this long before the ResourceManager is asked to kill it. */
const orderlyStopMs = 10_000;
/** The rest of the output after the end, from an AM that is still sending it. */
const lastOutputMs = 5_000;

export interface FollowOptions {
  readonly id: string;
  readonly applications: Applications;
  readonly connect: (contact: MasterContact) => MasterLink;
  readonly view: FollowListener;
  readonly now: () => number;
  /** When it was submitted, as far as is known. */
  readonly sinceMs: number;
  readonly logs: LogSelection;
  /** Where output begins that is there already; negative: so many bytes before its end. Default 0. */
  readonly logsFrom?: TaskTailsOptions["from"];
  readonly leadTask?: string;
  /** The application is killed when its AM does not run by then. */
  readonly startupLimitMs?: number;
  /** Fires when the job is to be ended; its reason says by what. */
  readonly stop: AbortSignal;
}

/** Follows a job to its end and says how it ended: by exit code. */
export function follow(options: FollowOptions): Promise<ExitCode> {
  options.applications.askBriefly();
  return new Follower(options).run();
}

/**
 * Two sources, one picture: before the AM runs, and whenever it is out of reach, the ResourceManager's report; in between the AM's
 * stream, during which the ResourceManager is left alone.
 */
class Follower {
  readonly #options: FollowOptions;
  readonly #view: FollowListener;
  readonly #tails: TaskTails;
  #session: MasterSession | undefined;
  #outcome: JobOutcome | undefined;
  #wake: () => void = () => undefined;
  #managerSilentSinceMs: number | undefined;
  #silenceTold = false;
  #contactlessSinceMs: number | undefined;
  #contactlessTold = false;
  #stopAskedAtMs: number | undefined;
  #leaveAtMs = Number.POSITIVE_INFINITY;
  #longerTold = false;
  #killed = false;
  #refused: UserError | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#view = options.view;
    this.#tails = new TaskTails({
      print: (task, line) => this.#view.taskLine(task, line),
      now: options.now,
      from: options.logsFrom ?? (() => 0),
    });
  }

  async run(): Promise<ExitCode> {
    const { stop } = this.#options;
    stop.addEventListener("abort", () => this.#wake());
    try {
      for (;;) {
        if (this.#refused !== undefined) throw this.#refused;
        if (stop.aborted) await this.#stopJob();
        if (!this.#hearsMaster()) {
          const report = await this.#report();
          if (report !== undefined && hasEnded(report)) return await this.#finish(report);
          if (report !== undefined) await this.#look(report);
          this.#tellSilence(report);
        }
        if (this.#options.now() >= this.#leaveAtMs) return this.#leave();
        await this.#sleep();
      }
    } finally {
      this.#tails.detach();
      this.#session?.close();
    }
  }

  /** Whether the AM's stream makes asking the ResourceManager unnecessary. */
  #hearsMaster(): boolean {
    return (
      this.#outcome === undefined &&
      this.#session !== undefined &&
      this.#session.state !== "closed" &&
      this.#session.silentMs < tellSilenceAfterMs
    );
  }

  async #report(): Promise<ApplicationReport | undefined> {
    const { applications, id, now } = this.#options;
    try {
      const report = await applications.report(id);
      this.#managerSilentSinceMs = undefined;
      return report;
    } catch (error) {
      if (!(error instanceof CodedError) || !error.retryable) throw lostContact(id, error);
      this.#managerSilentSinceMs ??= now();
      const silentMs = now() - this.#managerSilentSinceMs;
      if (silentMs > giveUpAfterMs && this.#session?.state !== "open") throw lostContact(id, error);
      if (silentMs > tellSilenceAfterMs) this.#view.managerSilent(silentMs, errorMessage(error));
      return undefined;
    }
  }

  /** What a report of an unfinished application leads to: connecting to its AM, or showing why there is none. */
  async #look(report: ApplicationReport): Promise<void> {
    const { applications, now, sinceMs, startupLimitMs } = this.#options;
    this.#view.trackingUrl(report.trackingUrl);
    if (this.#outcome !== undefined || this.#session?.state === "open") return;
    if (report.state !== "RUNNING") {
      const reason = await applications.waitingReason(report);
      const again = this.#session === undefined ? "" : "the AM is gone and YARN starts another, the tasks run on: ";
      this.#view.waiting(report, `${again}${reason}`);
      if (startupLimitMs !== undefined && now() - sinceMs > startupLimitMs) await this.#startedTooLate(startupLimitMs);
      return;
    }
    const contact = await applications.contact(report);
    if (contact === undefined) this.#tellNoContact(report);
    else if (this.#isNews(contact)) this.#connect(contact);
  }

  /** The job is somebody else's, or was known before its AM's address was. */
  #tellNoContact(report: ApplicationReport): void {
    const { now, applications } = this.#options;
    this.#contactlessSinceMs ??= now();
    if (this.#contactlessTold || now() - this.#contactlessSinceMs < tellSilenceAfterMs) return;
    this.#contactlessTold = true;
    this.#view.line(`Its AM cannot be asked: ${applications.noContactReason(report)}. Only its end will be seen`);
  }

  /** Not the attempt that is being connected to, nor one older than what was heard. */
  #isNews({ attempt }: MasterContact): boolean {
    const session = this.#session;
    if (session === undefined || attempt > session.contact.attempt) return true;
    return attempt === session.contact.attempt && session.state === "closed";
  }

  #connect(contact: MasterContact): void {
    this.#session?.close();
    const link = this.#options.connect(contact);
    const session: MasterSession = new MasterSession(
      contact,
      link,
      {
        status: (status) => {
          if (session !== this.#session) return;
          this.#silenceTold = this.#silenceTold && !this.#answersAgain();
          this.#view.show(status);
          this.#outcome ??= status.outcome;
          this.#followLogs(status);
        },
        outcome: (outcome) => {
          if (session !== this.#session) return;
          this.#outcome = outcome;
          this.#wake();
        },
        closed: () => this.#wake(),
      },
      this.#options.now,
    );
    this.#session = session;
    this.#tails.attach(link, contact.attempt);
  }

  /** Output that cannot come, because there is no such task, is refused as soon as the tasks are known. */
  #followLogs(status: JobStatus): void {
    const { logs, leadTask } = this.#options;
    this.#refused ??= noSuchTask(logs, taskNames(status));
    if (this.#refused !== undefined) this.#wake();
    else if (logs.kind === "master") this.#tails.follow(["am"], ["stdout"]);
    else this.#tails.follow(selectTasks(logs, status, leadTask).map(({ task }) => task));
  }

  #answersAgain(): true {
    this.#view.line("The AM answers again");
    return true;
  }

  #tellSilence(report: ApplicationReport | undefined): void {
    const session = this.#session;
    if (session === undefined || this.#silenceTold || this.#outcome !== undefined) return;
    if (session.silentMs < tellSilenceAfterMs) return;
    this.#silenceTold = true;
    const attempt =
      report?.currentAttemptId === undefined ? "" : `, attempt ${parseAttemptId(report.currentAttemptId).attempt}`;
    const manager =
      report === undefined ? "nor does the ResourceManager" : `the ResourceManager says ${report.state}${attempt}`;
    this.#view.line(`The AM has not answered for ${durationWords(session.silentMs)}; ${manager}; still trying`);
  }

  async #startedTooLate(limitMs: number): Promise<void> {
    const { applications, id } = this.#options;
    this.#view.line(`The AM is not running after ${durationWords(limitMs)}: ending the job (tony.am.startup-timeout)`);
    await applications.kill(id, `not running after ${durationWords(limitMs)} (tony.am.startup-timeout)`);
  }

  /** First the AM in order, then the ResourceManager by force; called until the end is seen or the time is up. */
  async #stopJob(): Promise<void> {
    const { now } = this.#options;
    if (this.#stopAskedAtMs === undefined) {
      this.#stopAskedAtMs = now();
      this.#leaveAtMs = now() + stopLimitMs;
      this.#view.ending("Ending the job; press Ctrl-C again to leave at once");
      if (await this.#stopInOrder()) return;
      await this.#kill();
    } else if (!this.#killed && this.#session?.isEnding !== true && now() >= this.#stopAskedAtMs + orderlyStopMs) {
      await this.#kill();
    }
    this.#allowForGrace();
  }

  /** An AM that gives the programs longer, or has more to upload, says itself until when, and is waited for until then. */
  #allowForGrace(): void {
    const stoppedAtMs = this.#session?.stoppedAtMs ?? 0;
    if (stoppedAtMs > this.#leaveAtMs && !this.#longerTold) {
      this.#longerTold = true;
      this.#view.line(`The AM ends it by ${formatClock(stoppedAtMs)} at the latest; waiting for that`);
    }
    this.#leaveAtMs = Math.max(this.#leaveAtMs, stoppedAtMs + stopLimitMs);
  }

  /** Whether the AM took the request. */
  async #stopInOrder(): Promise<boolean> {
    const session = this.#session;
    if (session?.state !== "open") return false;
    try {
      await session.link.stop(this.#stopReason());
      return true;
    } catch (error) {
      this.#view.line(`The AM cannot be asked to end it: ${errorMessage(error)}`);
      return false;
    }
  }

  async #kill(): Promise<void> {
    const { applications, id } = this.#options;
    try {
      await applications.kill(id, this.#stopReason());
      this.#killed = true;
    } catch (error) {
      this.#view.line(`Could not ask for the end, trying again: ${errorMessage(error)}`);
    }
  }

  #stopReason(): string {
    return `killed by ${String(this.#options.stop.reason)} at the client`;
  }

  #leave(): ExitCode {
    const { id, now } = this.#options;
    const waited = durationWords(now() - (this.#stopAskedAtMs ?? now()));
    const reason = `${id} has not ended within ${waited} and may still run: tony-ts kill ${id}`;
    this.#view.left(reason, ExitCode.unknown);
    return ExitCode.unknown;
  }

  async #finish(report: ApplicationReport): Promise<ExitCode> {
    const { applications, id, now } = this.#options;
    await this.#tails.finish(this.#session === undefined ? 0 : lastOutputMs);
    // What was heard is whole only when the last AM said its last word: one that died left its last moments to what is kept.
    const kept = this.#session?.heardOutcome === true ? undefined : await applications.finalStatus(report);
    if (kept !== undefined) this.#view.show(kept);
    const outcome = outcomeOf(report, kept?.outcome ?? this.#outcome, now());
    const cleaned = await applications.clean(id).catch(() => "its staging folder is removed by your next command");
    const exitCode = exitCodeOf(outcome);
    const ended = ["Ended: all containers are returned", ...(cleaned === "" ? [] : [cleaned])].join("; ");
    this.#view.ended({ outcome, report, exitCode, ...(this.#options.stop.aborted && { cleaned: ended }) });
    return exitCode;
  }

  /** Until something is heard, or it is time to ask again. */
  async #sleep(): Promise<void> {
    const abort = new AbortController();
    this.#wake = () => abort.abort();
    await sleep(this.#intervalMs(), abort.signal);
    this.#wake = () => undefined;
  }

  #intervalMs(): number {
    const { now, sinceMs, stop } = this.#options;
    if (this.#outcome !== undefined) return 50;
    if (this.#hearsMaster()) return 500;
    if (stop.aborted || this.#session !== undefined) return 250;
    const ageMs = now() - sinceMs;
    return ageMs < 20_000 ? 100 : ageMs < 120_000 ? 500 : 1_000;
  }
}

function lostContact(id: string, cause: unknown): UserError {
  const gone = errorCode(cause) === "APPLICATION_NOT_FOUND";
  const why = gone ? "the ResourceManager no longer knows it" : errorMessage(cause);
  return new UserError(`Contact with ${id} is lost: ${why}\n  What became of it: tony-ts status ${id}`, {
    code: "CONTACT_LOST",
    exitCode: ExitCode.unknown,
    cause,
  });
}
