import { TonyError } from "../../src/errors.ts";
import { type JobOutcome, type JobStatus, readJobOutcome, readJobStatus } from "../../src/job/status.ts";

const decoder = new TextDecoder();

/** Throws a TonyError with code `STATUS_UNREADABLE` when an AM of another version speaks. */
export function parseJobStatus(bytes: Uint8Array): JobStatus {
  try {
    return readJobStatus(JSON.parse(decoder.decode(bytes)), "");
  } catch (cause) {
    throw unreadable("a status", cause);
  }
}

/** As parseJobStatus. */
export function parseJobOutcome(bytes: Uint8Array): JobOutcome {
  try {
    return readJobOutcome(JSON.parse(decoder.decode(bytes)), "");
  } catch (cause) {
    throw unreadable("an outcome", cause);
  }
}

function unreadable(what: string, cause: unknown): TonyError {
  return new TonyError(`The AM sent ${what} that this tony-ts does not understand: it is of another version`, {
    code: "STATUS_UNREADABLE",
    cause,
  });
}
