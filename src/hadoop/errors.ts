/** What every error of this library carries besides its message. */
export interface CodedErrorOptions {
  /** Stable, for programs: `UPPER_SNAKE`. */
  readonly code: string;
  /** What it was made from. */
  readonly cause?: unknown;
  /** Whether the same call may succeed later, unchanged. Decided where the error is made. Default false. */
  readonly retryable?: boolean;
}

/** The base of every error made here on purpose. Callers branch on `code`, never on the class of a core error. */
export class CodedError extends Error {
  override readonly name: string = "CodedError";
  readonly code: string;
  readonly retryable: boolean;

  constructor(message: string, options: CodedErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.retryable = options.retryable ?? false;
  }
}

/** Something went wrong between us and Hadoop; subclasses say which part of it. */
export class HadoopError extends CodedError {
  override readonly name: string = "HadoopError";
}

/** The `code` of anything thrown, or undefined: system errors, ours and gRPC's all carry one. */
export function errorCode(error: unknown): string | number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" || typeof code === "number" ? code : undefined;
}

/** Whether the disk says that nothing is at a path: also where a folder of it is a file, or it is longer than any can be. */
export function isNotThere(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(String(errorCode(error)));
}

/** The message of anything thrown. */
export function errorMessage(error: unknown): string {
  if (typeof error === "object" && error !== null && "message" in error && typeof error.message === "string") {
    return error.message;
  }
  return String(error);
}
