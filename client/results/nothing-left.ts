import { UserError } from "../../src/errors.ts";

/** The error for a job that did not leave the requested files, or where nobody knows where they are. */
export function nothingLeft(message: string): UserError {
  return new UserError(message, { code: "NOTHING_LEFT" });
}
