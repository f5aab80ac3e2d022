import { HadoopError } from "../../errors.ts";

/** A file that is not what its format promises. */
export class LogFormatError extends HadoopError {
  override readonly name = "LogFormatError";

  constructor(problem: string) {
    super(problem, { code: "LOG_FILE_MALFORMED" });
  }
}
