import path from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../hadoop/errors.ts";
import type { FileStatus } from "../hadoop/hdfs/file-system.ts";
import { listIfThere } from "../hadoop/hdfs/if-there.ts";
import { decodeJournalEntry, type JournalEntry } from "./entry.ts";

type Listed = Pick<FileStatus, "path">;

/** What reading needs of a file system. */
export interface JournalFiles {
  list(folder: string): Promise<readonly Listed[]>;
  open(file: string): Promise<NodeJS.ReadableStream>;
}

/** The journal of earlier attempts. `unreadable` names files that were newer than the entry and could not be used. */
export interface JournalReading {
  readonly entry?: JournalEntry;
  readonly unreadable: readonly string[];
}

/** The newest complete entry: of the latest attempt that has one, the highest sequence. */
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

/** The file beside a snapshot of that number which has tasks that it and later ones leave out. */
export function partName(sequence: number): string {
  return `ended-${sequence}`;
}

/** A snapshot with the tasks that it left out before those that it has. */
export function whole(snapshot: unknown, leftOut: readonly unknown[]): unknown {
  return hasTasks(snapshot) ? { ...snapshot, tasks: [...leftOut, ...snapshot.tasks] } : snapshot;
}

/** Throws as readEntry. */
async function withParts(fileSystem: JournalFiles, file: string, entry: JournalEntry): Promise<JournalEntry> {
  const { snapshot } = entry;
  const sequences = hasTasks(snapshot) ? (snapshot.parts ?? []) : [];
  const read = sequences.map((sequence) =>
    readEntry(fileSystem, path.posix.join(path.posix.dirname(file), partName(sequence))),
  );
  const parts = await Promise.all(read);
  return {
    ...entry,
    snapshot: whole(
      snapshot,
      parts.flatMap((part) => part.snapshot),
    ),
  };
}

function hasTasks(
  snapshot: unknown,
): snapshot is { readonly tasks: readonly unknown[]; readonly parts?: readonly number[] } {
  return typeof snapshot === "object" && snapshot !== null && "tasks" in snapshot && Array.isArray(snapshot.tasks);
}

/** The paths of the journal's files: those of the latest attempt come first, of each the highest sequence. */
export async function* filesNewestFirst(fileSystem: JournalFiles, folder: string): AsyncGenerator<string, void> {
  for (const attempt of newestFirst(await listIfThere(fileSystem, folder))) {
    for (const file of newestFirst(await listIfThere(fileSystem, attempt.path))) yield file.path;
  }
}

/** Throws as the file system, and a TonyError with code `JOURNAL_UNREADABLE`. */
export async function readEntry(fileSystem: JournalFiles, file: string): Promise<JournalEntry> {
  return decodeJournalEntry(await text(await fileSystem.open(file)));
}

/** The journal's own names are numbers; temporary and other files are left out. */
function newestFirst(entries: readonly Listed[]): Listed[] {
  const number = (entry: Listed): number => Number(path.posix.basename(entry.path));
  return entries.filter((entry) => Number.isInteger(number(entry))).sort((a, b) => number(b) - number(a));
}
