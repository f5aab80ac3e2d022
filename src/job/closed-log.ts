/**
 * A log that grew to `tony.log.max-size` is closed and continues in an empty file of its name. The closed part is next to it, named after
 * the byte of the whole log at which it begins: `stdout.000000000000`, `stdout.000134217728`. So the names show the order, and what is
 * missing.
 */

/** Names of this length also sort correctly as text: NodeManagers store logs sorted by name. */
const DIGITS = 12;

/** Closed logs for YARN, which searches for the expression anywhere in a name (AggregatedLogFormat.LogValue#filterFiles). */
export const CLOSED_LOGS = "\\.[0-9]{12,}$";

/** The end of a closed log's name while the file is incomplete. */
export const UNFINISHED = ".unfinished";

/** A file of a log: the current one, or a closed one. */
export interface LogFileName {
  /** The log's name, `stdout`. */
  readonly log: string;
  /** The byte of the log at which a closed file begins; undefined for the current file. */
  readonly start: number | undefined;
}

export function closedLogName(log: string, start: number): string {
  return `${log}.${String(start).padStart(DIGITS, "0")}`;
}

export function parseLogFileName(name: string): LogFileName {
  const [, log, start] = /^(.+)\.(\d{12,})$/.exec(name) ?? [];
  return log === undefined ? { log: name, start: undefined } : { log, start: Number(start) };
}
