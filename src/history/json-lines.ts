/** A file of a job's history or of a search's trials is read only as far as that: a job writes what it likes into its own. */
export const MOST_HISTORY_BYTES = 64 * 2 ** 20;

/**
 * Of the largest job, with room to spare. Text that is made for it takes twenty times its length once it is parsed, and whose history is
 * read may have written what he likes.
 */
export const MOST_LINE = 32 * 2 ** 20;

/** One line of a file. @throws SyntaxError, RangeError where it is longer than any of ours */
export function parseLine(line: string): unknown {
  if (line.length > MOST_LINE) throw new RangeError(`a line has more than ${MOST_LINE} characters`);
  return JSON.parse(line);
}
