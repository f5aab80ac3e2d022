import { ExitCode, UserError } from "../../src/errors.ts";
import { type MonotonicClock, monotonicClock } from "../../src/hadoop/clock.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { isRemoteError, RemoteError } from "../../src/hadoop/rpc/remote-error.ts";
import type { ApplicationId, ApplicationState } from "../../src/hadoop/yarn/records.ts";
import { resourceRefusal } from "../../src/hadoop/yarn/refusals.ts";
import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";
import { fits } from "../../src/job/fits.ts";
import { amountWords, durationWords } from "../../src/job/reasons/words.ts";
import { renewalRefusal } from "../cluster/token-refusal.ts";
import type { Output } from "../output/output.ts";

/** The part of ResourceManagerClient that is needed. */
export interface Submissions {
  submit(application: SubmissionContext, options: { readonly signal: AbortSignal }): Promise<void>;
  report(
    id: ApplicationId,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly state: ApplicationState; readonly diagnostics: string }>;
}

export interface SubmitOptions {
  readonly resourceManager: Submissions;
  readonly output: Output;
  /** Aborts the waiting for answers. */
  readonly stop: AbortSignal;
  /** How long to resubmit an application that the ResourceManager accepts and forgets. */
  readonly giveUpAfterMs: number;
  /** From now on questions get little time: the submission itself has used up the patience. */
  readonly askBriefly: () => void;
  readonly clock?: MonotonicClock;
}

/** The code of an error after which it is unknown whether the application was accepted. */
export const submissionUnknown = "SUBMISSION_UNKNOWN";
const refused = "SUBMISSION_REFUSED";

/**
 * In these states a ResourceManager that fails over may lose an application, or its scheduler may still refuse it
 * (org.apache.hadoop.yarn.client.api.impl.YarnClientImpl#submitApplication).
 */
const undecided: ReadonlySet<ApplicationState> = new Set(["NEW", "NEW_SAVING", "SUBMITTED"]);
const firstLookAgainMs = 20;
const longestLookAgainMs = 200;
const sayAfterMs = 1_000;
/** How often to check whether a node has registered that is large enough for the ApplicationMaster. */
const largerNodeMs = 10_000;

/**
 * Submits an application and waits until the ResourceManager has saved it and its scheduler has accepted it, which happens after the
 * ResourceManager's answer; if the ResourceManager fails over meanwhile and does not know the application, submits it again
 * (org.apache.hadoop.yarn.client.api.impl.YarnClientImpl#submitApplication). After no answer, or after a refusal that may concern only a repeated
 * try, looks up whether it was accepted. While the nodes are too small for its ApplicationMaster, waits for a larger one.
 * @throws the submission's error when the ResourceManager does not know the application; UserError (`SUBMISSION_UNKNOWN`) when that cannot be found
 * out, (`SUBMISSION_FORGOTTEN`) when it was accepted and forgotten repeatedly, (`SUBMISSION_REFUSED`) when the scheduler refuses it
 */
export async function submitApplication(application: SubmissionContext, options: SubmitOptions): Promise<void> {
  const { resourceManager, output, stop, giveUpAfterMs, askBriefly, clock = monotonicClock } = options;
  const startedMs = clock.nowMs();
  try {
    for (let pauseMs = firstLookAgainMs; ; pauseMs = longer(pauseMs)) {
      const failure = await doubtAfter(resourceManager.submit(application, { signal: stop }), askBriefly);
      if (await isKept(application, failure, options)) return;
      if (failure !== undefined) {
        await untilItMayFit(application, failure, { startedMs, output, clock, stop });
        continue;
      }
      if (stop.aborted || clock.nowMs() - startedMs >= giveUpAfterMs) throw forgottenSubmission(application.id);
      output.problem(
        `The ResourceManager accepted ${application.id} and then lost it, as after a failover: submitting it again`,
      );
      await clock.sleep(pauseMs, stop);
    }
  } finally {
    output.endWait();
  }
}

/**
 * The AM is larger than any container that the currently registered nodes allow. Another node may register, so the application is
 * submitted again after a while; resolves when it is time for that.
 * @throws the failure, where no node would help, or nobody wants to wait
 */
async function untilItMayFit(
  { masterResource: asked }: SubmissionContext,
  failure: CodedError,
  {
    startedMs,
    output,
    clock,
    stop,
  }: Required<Pick<SubmitOptions, "output" | "clock" | "stop">> & { startedMs: number },
): Promise<void> {
  const { configured, allowed } = resourceRefusal(failure) ?? {};
  // A resource type that is not listed there is not limited.
  const limit = configured && { ...configured, others: { ...asked.others, ...configured.others } };
  const mayFit = limit !== undefined && fits(asked, limit);
  if (!mayFit || stop.aborted) throw failure;
  const change = `No node that is registered now is large enough for the ApplicationMaster, which asks for ${amountWords(asked)}`;
  const largest = allowed === undefined ? "" : `; the largest container has ${amountWords(allowed)}`;
  const elapsedMs = clock.nowMs() - startedMs;
  const line = `${change}${largest}: waiting for ${durationWords(elapsedMs)}`;
  output.waitAside({ lines: [line], cause: "larger node", line, change, facts: [] });
  await clock.sleep(largerNodeMs, stop);
  if (stop.aborted) throw failure;
}

/** @returns why it is uncertain that it was accepted; undefined where the ResourceManager confirms it */
async function doubtAfter(submitted: Promise<void>, askBriefly: () => void): Promise<CodedError | undefined> {
  try {
    await submitted;
    return undefined;
  } catch (error) {
    if (error instanceof RemoteError) return error;
    if (!(error instanceof CodedError) || !error.retryable) throw error;
    askBriefly();
    return error;
  }
}

/** Whether the ResourceManager knows the application; if so it has saved and accepted it, unless `stop` is aborted before. */
async function isKept(
  { id, queue }: SubmissionContext,
  failure: CodedError | undefined,
  { resourceManager, output, stop, clock = monotonicClock }: SubmitOptions,
): Promise<boolean> {
  const startedMs = clock.nowMs();
  try {
    for (let pauseMs = firstLookAgainMs; ; pauseMs = longer(pauseMs)) {
      const { state, diagnostics } = await resourceManager.report(id, { signal: stop });
      if (state === "FAILED") throw refusedSubmission(diagnostics, queue);
      if (!undecided.has(state) || stop.aborted) return true;
      const elapsedMs = clock.nowMs() - startedMs;
      if (elapsedMs >= sayAfterMs) output.waitAside(savingWait(id, elapsedMs));
      await clock.sleep(pauseMs, stop);
    }
  } catch (error) {
    if (isRemoteError(error, "APPLICATION_NOT_FOUND")) return false;
    if (errorCode(error) === refused) throw error;
    throw unknownSubmission(id, failure ?? error);
  } finally {
    output.endWait();
  }
}

const longer = (pauseMs: number) => Math.min(longestLookAgainMs, 2 * pauseMs);

function savingWait(id: ApplicationId, elapsedMs: number) {
  const change = `The ResourceManager has been saving ${id}`;
  const line = `${change} for ${durationWords(elapsedMs)}`;
  return { lines: [line], cause: "saving", line, change, facts: [] };
}

/** Nothing of it has run yet. The message starts with a Java class, followed by the scheduler's words; the fault is nearly always the queue. */
function refusedSubmission(diagnostics: string, queue: string): UserError {
  const options = { code: refused, exitCode: ExitCode.cluster };
  const notRenewed = renewalRefusal(diagnostics);
  if (notRenewed !== undefined) return new UserError(notRenewed, options);
  const said = diagnostics.trim().replace(/^[\w.$]+(?:Exception|Error): /, "");
  const mend = `  It asks for queue ${queue} (tony.yarn.queue): tony-ts doctor --queue ${queue} says more`;
  return new UserError(`The ResourceManager refuses the job: ${said}\n${mend}`, options);
}

function unknownSubmission(id: ApplicationId, cause: unknown): UserError {
  const message = `Whether the ResourceManager took ${id} is not known: ${errorMessage(cause)}`;
  return new UserError(`${message}\n  When it answers again: tony-ts status ${id}`, {
    code: submissionUnknown,
    exitCode: ExitCode.unknown,
    cause,
  });
}

function forgottenSubmission(id: ApplicationId): UserError {
  return new UserError(
    `The ResourceManager accepted ${id} several times and lost it each time: look at its log and its state store (yarn.resourcemanager.store.class)`,
    { code: "SUBMISSION_FORGOTTEN", exitCode: ExitCode.cluster },
  );
}
