import { UserError } from "../../src/errors.ts";

/** Of a job that did not leave what is asked for, or where nobody can say where it is. */
export function nothingLeft(message: string): UserError {
  return new UserError(message, { code: "NOTHING_LEFT" });
}
