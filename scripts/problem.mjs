/**
 * Something a person has to mend: its message says what, where and how, and is shown without a stack.
 * Everything else that is thrown in scripts/ is a defect of ours and shows its stack.
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
 * @param {() => Promise<number | undefined>} main resolves with the exit code, 0 when undefined
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
