import { TonyError } from "../../src/errors.ts";
import { type JobStatus, readJobStatus } from "../../src/job/status.ts";

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
