import { CodedError, type CodedErrorOptions } from "./hadoop/errors.ts";

/** The base of this project's errors outside `src/hadoop`. */
export class TonyError extends CodedError {
  override readonly name: string = "TonyError";
}

/** The exit codes of `tony-ts`: one list that the program, its documentation and its tests share. */
export const ExitCode = {
  succeeded: 0,
  jobFailed: 1,
  usage: 2,
  cluster: 3,
  killed: 4,
  unknown: 5,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/**
 * A mistake of the user, or a condition that the user can fix: only the message is shown, without a stack trace.
 * The message says what is wrong, where (file:line, key, node) and how to fix it.
 */
export class UserError extends TonyError {
  override readonly name = "UserError";
  readonly exitCode: ExitCode;

  constructor(message: string, options: CodedErrorOptions & { readonly exitCode?: ExitCode }) {
    super(message, options);
    this.exitCode = options.exitCode ?? ExitCode.usage;
  }
}

/** A mistake on the command line. */
export function usageError(message: string): UserError {
  return new UserError(message, { code: "USAGE" });
}

/** What the peer or grpc-js said, without the status number and name that grpc-js puts in front. */
export function withoutStatus(message: string): string {
  return message.replace(/^\d{1,2} [A-Z_]+: /, "");
}
