import { ExitCode, UserError, withoutStatus } from "../../src/errors.ts";
import { CodedError, errorCode, errorMessage } from "../../src/hadoop/errors.ts";

/** The message for an error, and the program's exit code. */
export interface ErrorReport {
  readonly message: string;
  readonly code: string;
  readonly exitCode: ExitCode;
  /** Whether the same command may succeed later, unchanged. */
  readonly retryable: boolean;
}

/**
 * The one place where anything thrown becomes a message and an exit code. A `UserError` says all there is to say; an error from
 * Hadoop or the network is the cluster's (3); anything else is a defect of ours and shows its stack (5: what became of the job is
 * unknown). With `debug` every error shows its stack and its causes.
 */
export function reportError(error: unknown, debug = false): ErrorReport {
  const report = classify(error);
  return debug ? { ...report, message: `${report.message}\n${stackOf(error)}` } : report;
}

function classify(error: unknown): ErrorReport {
  if (error instanceof UserError) {
    const { message, code, exitCode, retryable } = error;
    return { message, code, exitCode, retryable };
  }
  if (error instanceof CodedError) {
    const { code, retryable } = error;
    return { message: withCauses(error), code, exitCode: exitCodeOf(code), retryable };
  }
  const code = errorCode(error);
  const known = typeof code === "string" ? systemErrors[code] : undefined;
  if (known !== undefined) {
    const [meaning, exitCode] = known;
    const message = `${meaning}: ${pathOf(error) ?? errorMessage(error)}`;
    // Network errors pass; a problem with a file stays.
    return { message, code: String(code), exitCode, retryable: exitCode === ExitCode.cluster };
  }
  return {
    message: `This is a defect of tony-ts, please report it with the lines below.\n${stackOf(error)}`,
    code: "INTERNAL",
    exitCode: ExitCode.unknown,
    retryable: false,
  };
}

/** The file that the operating system's error is about; the system's own message would repeat the meaning. */
function pathOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "path" in error ? String(error.path) : undefined;
}

/** The operating system's errors about a file that a person named, or about the network. */
const systemErrors: Readonly<Record<string, readonly [string, ExitCode]>> = {
  ENOENT: ["No such file", ExitCode.usage],
  EACCES: ["Permission denied", ExitCode.usage],
  EISDIR: ["A directory where a file is needed", ExitCode.usage],
  ENOTDIR: ["A file where a directory is needed", ExitCode.usage],
  ENOSPC: ["The disk is full", ExitCode.usage],
  EDQUOT: ["The disk quota is used up", ExitCode.usage],
  EROFS: ["The file system is read-only", ExitCode.usage],
  ECONNREFUSED: ["Nobody listens there", ExitCode.cluster],
  ECONNRESET: ["The connection broke", ExitCode.cluster],
  ENOTFOUND: ["The host name is unknown", ExitCode.cluster],
  EHOSTUNREACH: ["The host cannot be reached", ExitCode.cluster],
  ETIMEDOUT: ["No answer in time", ExitCode.cluster],
};

/** Codes for mistakes in a file or a name that a person gave; all other codes of Hadoop's concern the cluster or its configuration. */
const mistakes = ["INVALID_ID", "CONFIGURATION_UNREADABLE", "CONFIGURATION_MALFORMED", "FILE_SYSTEM_UNSUPPORTED"];

function exitCodeOf(code: string): ExitCode {
  return mistakes.includes(code) ? ExitCode.usage : ExitCode.cluster;
}

/** The message, with those of its causes that add something. */
function withCauses(error: CodedError): string {
  const parts = [error.message];
  let cause = error.cause;
  while (cause !== undefined && cause !== null && parts.length < 5) {
    const message = withoutStatus(errorMessage(cause));
    if (!parts.some((part) => part.includes(message))) parts.push(message);
    cause = typeof cause === "object" && "cause" in cause ? cause.cause : undefined;
  }
  return parts.join(": ");
}

function stackOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("stack" in error)) return String(error);
  const cause = "cause" in error && error.cause !== undefined ? `\nCaused by: ${stackOf(error.cause)}` : "";
  return `${String(error.stack)}${cause}`;
}
