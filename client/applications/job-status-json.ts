import { TonyError } from "../../src/errors.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";

const decoder = new TextDecoder();

/** Throws a TonyError with code `STATUS_UNREADABLE` when an AM of another version speaks. */
export function parseJobStatus(bytes: Uint8Array): JobStatus {
  const parsed: unknown = JSON.parse(decoder.decode(bytes));
  if (isVersionOne(parsed)) return parsed;
  throw unreadable("a status");
}

/** As parseJobStatus. */
export function parseJobOutcome(bytes: Uint8Array): JobOutcome {
  const parsed: unknown = JSON.parse(decoder.decode(bytes));
  if (isOutcome(parsed)) return parsed;
  throw unreadable("an outcome");
}

/** Our own AM wrote it, over a connection that proved so: its version is all there is to doubt. */
function isVersionOne(value: unknown): value is JobStatus {
  return typeof value === "object" && value !== null && "statusVersion" in value && value.statusVersion === 1;
}

function isOutcome(value: unknown): value is JobOutcome {
  return typeof value === "object" && value !== null && "result" in value && "summary" in value;
}

function unreadable(what: string): TonyError {
  return new TonyError(`The AM sent ${what} that this tony-ts does not understand: it is of another version`, {
    code: "STATUS_UNREADABLE",
  });
}
