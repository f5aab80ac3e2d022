import { ExitCode, TonyError } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { yarnOutcome } from "../../src/job/outcome.ts";
import { type JobOutcome, type JobStatus, readJobStatus } from "../../src/job/status.ts";
import { masterFailure } from "./master-failure.ts";

/** The ResourceManager has the last word on the result; the AM knows why. */
export function outcomeOf(report: ApplicationReport, told: JobOutcome | undefined, nowMs: number): JobOutcome {
  const cause = masterFailure(report, nowMs);
  const outcome = yarnOutcome(report, nowMs, cause?.summary);
  if (told?.result === outcome.result) return told;
  return cause === undefined ? outcome : { ...outcome, cause };
}

/** The exit code of a command that waited for the job's end. */
export function exitCodeOf({ result }: JobOutcome): ExitCode {
  if (result === "succeeded") return ExitCode.succeeded;
  return result === "killed" ? ExitCode.killed : ExitCode.jobFailed;
}

const decoder = new TextDecoder();

/** The last status that an AM left as JSON. Throws a TonyError with code `STATUS_UNREADABLE` when an AM of another version wrote it. */
export function parseJobStatus(bytes: Uint8Array): JobStatus {
  try {
    return readJobStatus(JSON.parse(decoder.decode(bytes)), "");
  } catch (cause) {
    throw new TonyError("The AM left a status that this tony-ts does not understand: it is of another version", {
      code: "STATUS_UNREADABLE",
      cause,
    });
  }
}
