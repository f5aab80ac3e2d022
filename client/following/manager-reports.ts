import { ExitCode, UserError } from "../../src/errors.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { type FollowOptions, tellSilenceAfterMs } from "./follow-options.ts";

/** After this long without an answer nobody knows what became of the job. */
const giveUpAfterMs = 600_000;

/** A job's reports from a ResourceManager that may be unavailable for a while. */
export class ManagerReports {
  readonly #options: FollowOptions;
  #silentSinceMs: number | undefined;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  /** Whether the last question was not answered. */
  get areSilent(): boolean {
    return this.#silentSinceMs !== undefined;
  }

  /**
   * The current report; undefined while the ResourceManager does not answer.
   * @param isJobHeard whether the AM still reports the job's state
   * @throws UserError (`CONTACT_LOST`) when the ResourceManager does not know the job, or has not answered for long
   */
  async ask(isJobHeard: boolean): Promise<ApplicationReport | undefined> {
    const { applications, id, now, view } = this.#options;
    try {
      const report = await applications.report(id);
      this.#silentSinceMs = undefined;
      return report;
    } catch (error) {
      if (!(error instanceof CodedError) || !error.retryable) throw contactLost(id, error);
      this.#silentSinceMs ??= now();
      const silentMs = now() - this.#silentSinceMs;
      if (silentMs > giveUpAfterMs && !isJobHeard) throw contactLost(id, error);
      if (silentMs > tellSilenceAfterMs) view.managerSilent(silentMs, errorMessage(error));
      return undefined;
    }
  }
}

function contactLost(id: string, cause: unknown): UserError {
  const gone = errorCode(cause) === "APPLICATION_NOT_FOUND";
  const why = gone ? "the ResourceManager no longer knows it" : errorMessage(cause);
  return new UserError(`Contact with ${id} is lost: ${why}\n  What became of it: tony-ts status ${id}`, {
    code: "CONTACT_LOST",
    exitCode: ExitCode.unknown,
    cause,
  });
}
