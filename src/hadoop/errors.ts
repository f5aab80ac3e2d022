/** What every error of this library carries besides its message. */
export interface CodedErrorOptions {
  /** Stable, for programs: `UPPER_SNAKE`. */
  readonly code: string;
  /** The error that caused it. */
  readonly cause?: unknown;
  /** Whether the same call, unchanged, may succeed later. Decided where the error is created. Default false. */
  readonly retryable?: boolean;
}

/** The base of every error that this library raises deliberately. Callers branch on `code`, never on the class of a core error. */
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

/** Something failed between us and Hadoop; the subclass says in which part. */
export class HadoopError extends CodedError {
  override readonly name: string = "HadoopError";
}

/** The `code` of anything thrown, or undefined: system errors, ours and gRPC's all carry one. */
export function errorCode(error: unknown): string | number | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" || typeof code === "number" ? code : undefined;
}

/** Whether the file system says that nothing exists at a path, which includes a parent that is a file and a path longer than any can be. */
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
