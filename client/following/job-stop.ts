import { ExitCode } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { MasterSession } from "../master/master-session.ts";
import { formatClock } from "../output/format.ts";
import type { FollowOptions } from "./follow-options.ts";

/** From the request to stop, or by when the AM says that the programs are stopped, until we leave. */
const stopLimitMs = 15_000;
/** An AM that was asked to stop and does not say that it does gets this long before the ResourceManager is asked to kill it. */
const orderlyStopMs = 10_000;

/** Ends a job from here: first its AM in order, then the ResourceManager by force, and not without limit. */
export class JobStop {
  readonly #options: FollowOptions;
  #askedAtMs: number | undefined;
  #leaveAtMs = Number.POSITIVE_INFINITY;
  #longerTold = false;
  #killed = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** Whether the time for it is over. */
  get isOverdue(): boolean {
    return this.#options.now() >= this.#leaveAtMs;
  }

  /** To be called until the end is seen or is overdue. */
  async press(session: MasterSession | undefined): Promise<void> {
    const { now, view } = this.#options;
    if (this.#askedAtMs === undefined) {
      this.#askedAtMs = now();
      this.#leaveAtMs = now() + stopLimitMs;
      view.ending("Ending the job; press Ctrl-C again to leave at once");
      if (await this.#stopInOrder(session)) return;
      await this.#killStopped();
    } else if (!this.#killed && session?.isEnding !== true && now() >= this.#askedAtMs + orderlyStopMs) {
      await this.#killStopped();
    }
    this.#allowForGrace(session);
  }

  /** Asks the ResourceManager. @returns whether that was done; if not, it is said that it is to be asked again */
  async kill(reason: string): Promise<boolean> {
    const { applications, id, view } = this.#options;
    try {
      await applications.kill(id, reason);
      return true;
    } catch (error) {
      view.line(`Could not ask for the end, trying again: ${errorMessage(error)}`);
      return false;
    }
  }

  /** Leaves a job that has not ended in time. */
  leave(): ExitCode {
    const { id, now, view } = this.#options;
    const waited = durationWords(now() - (this.#askedAtMs ?? now()));
    const reason = `${id} has not ended within ${waited} and may still run: tony-ts kill ${id}`;
    view.left(reason, ExitCode.unknown);
    return ExitCode.unknown;
  }

  /** An AM that gives the programs longer, or has more to upload, says itself until when, and is waited for until then. */
  #allowForGrace(session: MasterSession | undefined): void {
    const stoppedAtMs = session?.stoppedAtMs ?? 0;
    if (stoppedAtMs > this.#leaveAtMs && !this.#longerTold) {
      this.#longerTold = true;
      this.#options.view.line(`The AM ends it by ${formatClock(stoppedAtMs)} at the latest; waiting for that`);
    }
    this.#leaveAtMs = Math.max(this.#leaveAtMs, stoppedAtMs + stopLimitMs);
  }

  /** Whether the AM took the request. */
  async #stopInOrder(session: MasterSession | undefined): Promise<boolean> {
    if (session?.state !== "open") return false;
    try {
      await session.link.stop(this.#reason);
      this.#options.ending?.();
      return true;
    } catch (error) {
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
    return `killed by ${String(this.#options.stop.reason)} at the client`;
  }
}
