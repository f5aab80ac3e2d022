import { createHash } from "node:crypto";
import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";

/** The content of one journal file. */
export interface JournalEntry {
  readonly attempt: number;
  readonly sequence: number;
  readonly snapshot: unknown;
}

const journalVersion = 2;

/** `{"journalVersion":2,"attempt":…,"sequence":…}` LF, JSON of the snapshot LF, SHA-256 of both lines in hexadecimal LF. */
export function encodeJournalEntry(
  { attempt, sequence }: Pick<JournalEntry, "attempt" | "sequence">,
  snapshotJson: string,
): Uint8Array {
  const lines = `${JSON.stringify({ journalVersion, attempt, sequence })}\n${snapshotJson}\n`;
  return Buffer.from(`${lines}${digest(lines)}\n`);
}

/** Throws a TonyError with code `JOURNAL_UNREADABLE` when the file is truncated, altered, or of an unknown version. */
export function decodeJournalEntry(text: string): JournalEntry {
  const [head = "", body = ""] = text.split("\n", 2);
  const { journalVersion: version, attempt, sequence } = fields(head);
  if (version !== journalVersion) throw unreadable(`its version is ${String(version)}, not ${journalVersion}`);
  const lines = `${head}\n${body}\n`;
  if (text !== `${lines}${digest(lines)}\n`) throw unreadable("its checksum differs");
  if (typeof attempt !== "number" || typeof sequence !== "number") throw unreadable("its first line is incomplete");
  return { attempt, sequence, snapshot: JSON.parse(body) };
}

function fields(line: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(line);
    return Object.fromEntries(Object.entries(parsed ?? {}));
  } catch (cause) {
    throw unreadable(errorMessage(cause));
  }
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function unreadable(why: string): TonyError {
  return new TonyError(`A journal file cannot be used: ${why}`, { code: "JOURNAL_UNREADABLE" });
}
