import path from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../hadoop/errors.ts";
import type { FileStatus } from "../hadoop/hdfs/file-system.ts";
import { listIfThere } from "../hadoop/hdfs/if-there.ts";
import { isObject } from "../hadoop/json.ts";
import { decodeJournalEntry, type JournalEntry } from "./entry.ts";

type Listed = Pick<FileStatus, "path">;

/** The part of a file system that reading needs. */
export interface JournalFiles {
  list(folder: string): Promise<readonly Listed[]>;
  open(file: string): Promise<NodeJS.ReadableStream>;
}

/** The journal of earlier attempts. `unreadable` names newer files than the entry's that could not be used. */
export interface JournalReading {
  readonly entry?: JournalEntry;
  readonly unreadable: readonly string[];
}

/** The newest complete entry: the highest sequence number of the latest attempt that has one. */
export async function readJournal(fileSystem: JournalFiles, folder: string): Promise<JournalReading> {
  const unreadable: string[] = [];
  for await (const file of filesNewestFirst(fileSystem, folder)) {
    try {
      return { entry: await withParts(fileSystem, file, await readEntry(fileSystem, file)), unreadable };
    } catch (error) {
      unreadable.push(`${file}: ${errorMessage(error)}`);
    }
  }
  return { unreadable };
}

/** The file, beside the snapshot with that number, that contains the tasks that this snapshot and later ones leave out. */
export function partName(sequence: number): string {
  return `ended-${sequence}`;
}

/** A snapshot to whose lists the parts have been prepended that it had left out. */
export function whole(snapshot: unknown, parts: readonly unknown[]): unknown {
  if (!isObject(snapshot)) return snapshot;
  const lists = Object.entries(snapshot).map(([name, list]) => {
    const leftOut = parts.flatMap((part) => (isObject(part) ? (part[name] ?? []) : []));
    return [name, Array.isArray(list) && leftOut.length > 0 ? [...leftOut, ...list] : list] as const;
  });
  return Object.fromEntries(lists);
}

/** Throws as readEntry. */
async function withParts(fileSystem: JournalFiles, file: string, entry: JournalEntry): Promise<JournalEntry> {
  const { snapshot } = entry;
  const sequences = isObject(snapshot) && Array.isArray(snapshot.parts) ? snapshot.parts : [];
  const read = sequences.map((sequence) =>
    readEntry(fileSystem, path.posix.join(path.posix.dirname(file), partName(Number(sequence)))),
  );
  const parts = await Promise.all(read);
  return {
    ...entry,
    snapshot: whole(
      snapshot,
      parts.map((part) => part.snapshot),
    ),
  };
}

/** The paths of the journal's files: the latest attempt first, and within each attempt the highest sequence number first. */
export async function* filesNewestFirst(fileSystem: JournalFiles, folder: string): AsyncGenerator<string, void> {
  for (const attempt of newestFirst(await listIfThere(fileSystem, folder))) {
    for (const file of newestFirst(await listIfThere(fileSystem, attempt.path))) yield file.path;
  }
}

/** Throws as the file system does, and a TonyError with code `JOURNAL_UNREADABLE`. */
export async function readEntry(fileSystem: JournalFiles, file: string): Promise<JournalEntry> {
  return decodeJournalEntry(await text(await fileSystem.open(file)));
}

/** The journal's own names are numbers; temporary and other files are skipped. */
function newestFirst(entries: readonly Listed[]): Listed[] {
  const number = (entry: Listed): number => Number(path.posix.basename(entry.path));
  return entries.filter((entry) => Number.isInteger(number(entry))).sort((a, b) => number(b) - number(a));
}
