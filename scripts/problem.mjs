/**
 * Something that a person has to fix: its message says what, where and how, and is shown without a stack. Anything else
 * that is thrown in scripts/ is a defect of ours and shows its stack.
 */
export class Problem extends Error {
  /** @param {string} message @param {{ exitCode?: number, cause?: unknown }} [options] */
  constructor(message, { exitCode = 1, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "Problem";
    this.exitCode = exitCode;
  }
}

/**
 * Runs a script's main function; a Problem becomes its message and exit code.
 * @param {() => Promise<number | undefined | void>} main resolves with the exit code, 0 when undefined
 */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}

/** The message of a thrown value. @param {unknown} error */
export const wordsOf = (error) => (error instanceof Error ? error.message : String(error));

/** The output of a failed program that execFile ran, or the error's message where it printed nothing. @param {unknown} error */
export function printedBy(error) {
  const { stdout = "", stderr = "" } = /** @type {{ stdout?: string, stderr?: string }} */ (error);
  return `${stdout}${stderr}` || wordsOf(error);
}

/** The code of a failed system call, such as ENOENT. @param {unknown} error */
export const codeOf = (error) => (error instanceof Error && "code" in error ? error.code : undefined);
