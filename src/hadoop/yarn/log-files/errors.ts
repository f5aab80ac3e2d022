import { errorCode, errorMessage, HadoopError } from "../../errors.ts";

/** A file that is not what its format promises. */
export class LogFormatError extends HadoopError {
  override readonly name = "LogFormatError";

  constructor(problem: string) {
    super(problem, { code: "LOG_FILE_MALFORMED" });
  }
}

/** Passes on what comes; damage that is found meanwhile, by us or by zlib, is named with its file. */
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
