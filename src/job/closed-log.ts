/**
 * A log that grew to `tony.log.max-size` is closed and goes on in an empty file of its name. What was closed lies beside it, named by the
 * byte of the whole log at which it begins: `stdout.000000000000`, `stdout.000134217728`. So names tell the order, and what is missing.
 */

/** Names of this length are in order as text, too: NodeManagers store logs sorted by name. */
const DIGITS = 12;

/** Closed logs for YARN, which looks for the expression anywhere in a name (AggregatedLogFormat.LogValue#filterFiles). */
export const CLOSED_LOGS = "\\.[0-9]{12,}$";

/** What the name of a closed log ends in while it is not complete. */
export const UNFINISHED = ".unfinished";

/** A file of a log: the one that is written to, or one that was closed. */
export interface LogFileName {
  /** Of the log, `stdout`. */
  readonly log: string;
  /** The byte of the log at which a closed file begins; undefined for the one that is written to. */
  readonly start: number | undefined;
}

export function closedLogName(log: string, start: number): string {
  return `${log}.${String(start).padStart(DIGITS, "0")}`;
}

export function parseLogFileName(name: string): LogFileName {
  const [, log, start] = /^(.+)\.(\d{12,})$/.exec(name) ?? [];
  return log === undefined ? { log: name, start: undefined } : { log, start: Number(start) };
}
