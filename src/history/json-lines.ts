/** A job's history file, or a search's file of trials, is read only up to this size: a job can write anything into its own. */
export const MOST_HISTORY_BYTES = 64 * 2 ** 20;

/**
 * Enough for the largest job, with room to spare. The job's user can write anything into the history, and maliciously crafted text takes
 * twenty times its length once parsed.
 */
export const MOST_LINE = 32 * 2 ** 20;

/** Parses one line of a file. @throws SyntaxError, RangeError if it is longer than any of ours */
export function parseLine(line: string): unknown {
  if (line.length > MOST_LINE) throw new RangeError(`a line has more than ${MOST_LINE} characters`);
  return JSON.parse(line);
}
