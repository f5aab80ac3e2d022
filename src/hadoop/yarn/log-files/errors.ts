import { errorCode, errorMessage, HadoopError } from "../../errors.ts";

/** A file that does not conform to its format. */
export class LogFormatError extends HadoopError {
  override readonly name = "LogFormatError";

  constructor(problem: string) {
    super(problem, { code: "LOG_FILE_MALFORMED" });
  }
}

/** Passes the items of `source` on; an error from corrupt data, ours or zlib's, gets the file's name. */
export async function* namingDamage<T>(path: string, source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source;
  } catch (error) {
    throw damageOf(error, path);
  }
}

function damageOf(error: unknown, path: string): unknown {
  const code = errorCode(error);
  const ofZlib = typeof code === "string" && code.startsWith("Z_");
  if (!ofZlib && !(error instanceof LogFormatError)) return error;
  const message = errorMessage(error);
  return message.startsWith(path) ? error : new LogFormatError(`${path} is damaged: ${message}`);
}
