import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import { type Applications, hasEnded, type MasterContact } from "../applications/applications.ts";
import { type LogSelection, selectTasks } from "../logs/log-selection.ts";
import { TaskTails } from "../logs/task-tails.ts";
import { formatWholeSeconds } from "../output/format.ts";
import type { Output } from "../output/output.ts";
import { FollowView } from "./follow-view.ts";
import { masterFailure } from "./master-failure.ts";
import type { MasterLink } from "./master-link.ts";
import { MasterSession } from "./master-session.ts";

/** After this the AM's, or the ResourceManager's, silence is told. */
const tellSilenceAfterMs = 5_000;
/** Nobody answered for so long: what became of the job is unknown. */
const giveUpAfterMs = 600_000;
/** From the request to stop until we leave, whatever has come of it. */
const stopLimitMs = 15_000;
/** An AM that was asked to stop gets this long before the ResourceManager is asked to kill it. */
const orderlyStopMs = 10_000;
/** The rest of the output after the end, from an AM that is still sending it. */
const lastOutputMs = 5_000;

export interface FollowOptions {
  readonly id: string;
  readonly applications: Applications;
  readonly connect: (contact: MasterContact) => MasterLink;
  readonly output: Output;
  readonly now: () => number;
  /** Times in front of lines count from here. */
  readonly sinceMs: number;
  readonly logs: LogSelection;
  readonly leadTask?: string;
  /** The application is killed when its AM does not run by then. */
  readonly startupLimitMs?: number;
  /** Fires when the job is to be ended; its reason says by what. */
  readonly stop: AbortSignal;
}

/** Follows a job to its end and says how it ended: by exit code. */
export function follow(options: FollowOptions): Promise<ExitCode> {
  return new Follower(options).run();
}

/**
 * Two sources, one picture: before the AM runs, and whenever it is out of reach, the ResourceManager's report; in between the AM's
 * stream, during which the ResourceManager is left alone.
 */
class Follower {
  readonly #options: FollowOptions;
  readonly #view: FollowView;
  readonly #tails: TaskTails;
  #session: MasterSession | undefined;
  #outcome: JobOutcome | undefined;
  #wake: () => void = () => undefined;
  #managerSilentSinceMs: number | undefined;
  #silenceTold = false;
  #stopAtMs: number | undefined;
  #killed = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#view = new FollowView(options.output, options.now, options.sinceMs);
    this.#tails = new TaskTails((task, line) => this.#view.taskLine(task, line));
  }

  async run(): Promise<ExitCode> {
    const { stop } = this.#options;
    stop.addEventListener("abort", () => this.#wake());
    try {
      for (;;) {
        if (stop.aborted) await this.#stopJob();
        if (!this.#hearsMaster()) {
          const report = await this.#report();
          if (report !== undefined && hasEnded(report)) return await this.#finish(report);
          if (report !== undefined) await this.#look(report);
          this.#tellSilence(report);
        }
        if (this.#stopAtMs !== undefined && this.#options.now() >= this.#stopAtMs) return this.#leave();
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
      if (silentMs > tellSilenceAfterMs) this.#waitForManager(silentMs, error);
      return undefined;
    }
  }

  #waitForManager(silentMs: number, error: unknown): void {
    const text = `The ResourceManager does not answer (${errorMessage(error)}); trying on, the job itself may be well`;
    const waited = formatWholeSeconds(silentMs);
    this.#options.output.wait({ lines: [`${text} ${waited}`], line: `${text} ${waited}`, change: text });
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
    if (contact !== undefined && this.#isNews(contact)) this.#connect(contact);
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
          this.#tails.follow(selectTasks(this.#options.logs, status, this.#options.leadTask));
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
    this.#tails.attach(link);
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
    this.#view.line(`The AM has not answered for ${formatWholeSeconds(session.silentMs)}; ${manager}; trying on`);
  }

  async #startedTooLate(limitMs: number): Promise<void> {
    const { applications, id } = this.#options;
    this.#view.line(
      `The AM does not run after ${formatWholeSeconds(limitMs)}: ending the job (tony.am.startup-timeout)`,
    );
    await applications.kill(id, `not running after ${formatWholeSeconds(limitMs)} (tony.am.startup-timeout)`);
  }

  /** First the AM in order, then the ResourceManager by force; called until the end is seen or the time is up. */
  async #stopJob(): Promise<void> {
    const { now } = this.#options;
    if (this.#stopAtMs === undefined) {
      this.#stopAtMs = now() + stopLimitMs;
      this.#view.line(`Ending the job: up to ${stopLimitMs / 1000} s; again to leave at once`);
      if (await this.#stopInOrder()) return;
      await this.#kill();
    } else if (!this.#killed && this.#outcome === undefined && now() >= this.#stopAtMs - stopLimitMs + orderlyStopMs) {
      await this.#kill();
    }
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
      this.#view.line(`Asking for the end failed, trying on: ${errorMessage(error)}`);
    }
  }

  #stopReason(): string {
    return `killed by ${String(this.#options.stop.reason)} at the client`;
  }

  #leave(): ExitCode {
    const { id, output } = this.#options;
    output.endWait();
    output.problem(`${id} has not ended within ${stopLimitMs / 1000} s and may still run: tony-ts kill ${id}`);
    return ExitCode.unknown;
  }

  async #finish(report: ApplicationReport): Promise<ExitCode> {
    const { applications, id, now } = this.#options;
    await this.#tails.finish(this.#session === undefined ? 0 : lastOutputMs);
    // What was heard is whole only when the last AM said its last word: one that died left its last moments to what is kept.
    const kept = this.#session?.heardOutcome === true ? undefined : await applications.finalStatus(report);
    if (kept !== undefined) this.#view.show(kept);
    const outcome = outcomeOf(report, kept?.outcome ?? this.#outcome, now());
    this.#view.ended(outcome, report);
    const cleaned = await applications.clean(id).then(
      () => "; its staging folder is removed",
      () => "; its staging folder is removed by your next command",
    );
    if (this.#options.stop.aborted) this.#view.line(`Ended: all containers are returned${cleaned}`);
    return exitCodeOf(outcome);
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

/** The ResourceManager has the last word on the result; the AM knows why. */
function outcomeOf(report: ApplicationReport, told: JobOutcome | undefined, nowMs: number): JobOutcome {
  const result = resultOf(report);
  if (told?.result === result) return told;
  const endedAtMs = report.finishTimeMs === 0 ? nowMs : report.finishTimeMs;
  const cause = masterFailure(report, nowMs);
  if (cause !== undefined) return { result, summary: cause.summary, cause, endedAtMs };
  // RMAppImpl puts who and where before the words of whoever killed it.
  const said = report.diagnostics.trim().replace(/^Application \S+ was killed by .* with diagnostic message: /, "");
  const summary = said === "" ? `the application is ${report.state}` : said;
  return { result, summary, endedAtMs };
}

function resultOf({ state, finalStatus }: ApplicationReport): JobOutcome["result"] {
  if (state === "KILLED" || finalStatus === "KILLED") return "killed";
  return state === "FINISHED" && finalStatus === "SUCCEEDED" ? "succeeded" : "failed";
}

function exitCodeOf({ result }: JobOutcome): ExitCode {
  if (result === "succeeded") return ExitCode.succeeded;
  return result === "killed" ? ExitCode.killed : ExitCode.jobFailed;
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
