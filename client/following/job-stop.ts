import { ExitCode } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import { isRefused } from "../applications/kill-refusal.ts";
import { killedBy } from "../master/end-application.ts";
import type { MasterSession } from "../master/master-session.ts";
import { formatClock } from "../output/format.ts";
import type { FollowOptions } from "./follow-options.ts";

/** How long to wait before leaving, after the request to stop or after the AM's own deadline for stopping the programs. */
const stopLimitMs = 15_000;
/** How long an AM that was asked to stop, and does not say that it does, has before the ResourceManager is asked to kill it. */
const orderlyStopMs = 10_000;

/** How long a client with a deadline waits for the effect of a kill. */
const killedWithinMs = 5_000;

/** Ends a job from here: first through its AM, in order, then through the ResourceManager, by force, and within a limit. */
export class JobStop {
  readonly #options: FollowOptions;
  #askedAtMs: number | undefined;
  #leaveAtMs = Number.POSITIVE_INFINITY;
  #longerTold = false;
  #killed = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** Whether the limit is over. */
  get isOverdue(): boolean {
    return this.#options.now() >= this.#leaveAtMs;
  }

  /** To be called until the job has ended or the limit is over. */
  async press(session: MasterSession | undefined): Promise<void> {
    const { now, view } = this.#options;
    if (this.#askedAtMs === undefined) {
      this.#askedAtMs = now();
      this.#leaveAtMs = this.#options.endWithinMs === undefined ? now() + stopLimitMs : this.#killAtMs + killedWithinMs;
      view.ending();
      if (await this.#stopInOrder(session)) return;
      await this.#killStopped();
    } else if (!this.#killed && (this.#isKillDue || (session?.isEnding !== true && this.#isTakenLate))) {
      await this.#killStopped();
    }
    if (this.#options.endWithinMs === undefined) this.#allowForGrace(session);
  }

  /** When to give up an AM that ends the job in order. */
  get #killAtMs(): number {
    return (this.#askedAtMs ?? Number.POSITIVE_INFINITY) + (this.#options.endWithinMs ?? Number.POSITIVE_INFINITY);
  }

  get #isKillDue(): boolean {
    return this.#options.now() >= this.#killAtMs;
  }

  get #isTakenLate(): boolean {
    return this.#options.now() >= (this.#askedAtMs ?? Number.POSITIVE_INFINITY) + orderlyStopMs;
  }

  /**
   * Asks the ResourceManager to kill the job.
   * @returns whether it accepted; if not, the view is told that it will be asked again
   * @throws where the caller may not end the job
   */
  async kill(reason: string): Promise<boolean> {
    const { applications, id, view } = this.#options;
    try {
      await applications.kill(id, reason);
      return true;
    } catch (error) {
      if (isRefused(error)) throw error;
      view.line(`The job could not be asked to end, trying again: ${errorMessage(error)}`);
      return false;
    }
  }

  /** Stops following a job that has not ended in time. */
  leave(): ExitCode {
    const { id, now, view } = this.#options;
    const waited = durationWords(now() - (this.#askedAtMs ?? now()));
    const reason = `${id} has not ended within ${waited} and may still run: tony-ts kill ${id}`;
    view.left(reason, ExitCode.unknown);
    return ExitCode.unknown;
  }

  /** An AM that gives the programs longer, or has more to upload, announces its deadline, and the client waits until then. */
  #allowForGrace(session: MasterSession | undefined): void {
    const stoppedAtMs = session?.stoppedAtMs ?? 0;
    if (stoppedAtMs > this.#leaveAtMs && !this.#longerTold) {
      this.#longerTold = true;
      this.#options.view.line(
        `The job has until ${formatClock(stoppedAtMs)} to end: its programs have tony.task.stop-grace to stop, uploads tony.carrier.timeout; it ends as soon as they are done`,
      );
    }
    this.#leaveAtMs = Math.max(this.#leaveAtMs, stoppedAtMs + stopLimitMs);
  }

  /** Whether the AM accepted the request. */
  async #stopInOrder(session: MasterSession | undefined): Promise<boolean> {
    if (session?.state !== "open") return false;
    try {
      await session.link.stop(this.#reason);
      this.#options.ending?.();
      return true;
    } catch (error) {
      // The ResourceManager may obey a user whom the AM refuses, as an administrator; if it does not, its message says why.
      if (errorCode(error) === "API_FORBIDDEN") return false;
      this.#options.view.line(`The AM cannot be asked to end it: ${errorMessage(error)}`);
      return false;
    }
  }

  async #killStopped(): Promise<void> {
    if (!(await this.kill(this.#reason))) return;
    this.#killed = true;
    this.#options.ending?.();
  }

  get #reason(): string {
    const { stop, stoppedBy = String, applications } = this.#options;
    return killedBy(applications.user, stoppedBy(stop.reason));
  }
}
