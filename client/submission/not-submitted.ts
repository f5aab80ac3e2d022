import { ExitCode, UserError } from "../../src/errors.ts";

/** @param where nothing is left behind: `the cluster` */
export function notSubmitted(where: "the cluster" | "this machine"): UserError {
  return new UserError(`Nothing was submitted, and nothing is left on ${where}`, {
    code: "NOT_SUBMITTED",
    exitCode: ExitCode.killed,
  });
}
