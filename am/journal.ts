import path from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../src/hadoop/errors.ts";
import { createReadable } from "../src/hadoop/hdfs/create-readable.ts";
import { hasCode } from "../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import type { Log } from "../src/log.ts";
import { decodeJournalEntry, encodeJournalEntry, type JournalEntry } from "./journal-file.ts";

/** A reader may be opening the one before the newest. */
const keptFiles = 2;
const readAgainMs = 3_000;

export interface JournalOptions {
  readonly fileSystem: FileSystem;
  /** Holds a folder for each attempt. */
  readonly folder: string;
  readonly attempt: number;
}

/**
 * Writes snapshots to `<folder>/<attempt>/<sequence>`, each under a temporary name first, so that a reader sees whole files only.
 * When to write, and how often after a failure, is the core's to decide: it has one write under way at a time.
 */
export class JournalWriter {
  readonly #options: JournalOptions;
  #written: string[] = [];
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Resolves when the snapshot is safe; rejects with a FileSystemError. */
  write(sequence: number, snapshot: unknown): Promise<void> {
    return this.#track(this.#write(sequence, snapshot));
  }

  /** Resolves when nothing is being written: a write that ended after the folder's removal would make the folder anew. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #write(sequence: number, snapshot: unknown): Promise<void> {
    const { fileSystem, folder, attempt } = this.#options;
    const home = path.posix.join(folder, String(attempt));
    const draft = path.posix.join(home, `.${sequence}.tmp`);
    const target = path.posix.join(home, String(sequence));
    const content = encodeJournalEntry({ attempt, sequence, snapshot });
    const { closed } = await createReadable(fileSystem, draft, content, 0o600);
    void this.#track(closed);
    await fileSystem.rename(draft, target);
    this.#written.push(target);
    void this.#track(this.#removeOld());
  }

  #track(work: Promise<void>): Promise<void> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }

  /** What cannot be removed goes with the staging folder. */
  async #removeOld(): Promise<void> {
    while (this.#written.length > keptFiles) {
      const oldest = this.#written.shift();
      if (oldest !== undefined) await this.#options.fileSystem.delete(oldest).catch(() => {});
    }
  }
}

type Listed = Pick<FileStatus, "path">;

/** What reading needs of a file system. */
interface Reading {
  list(folder: string): Promise<readonly Listed[]>;
  open(file: string): Promise<NodeJS.ReadableStream>;
}

/** What an earlier attempt left. `unreadable` names files that were newer than the entry and could not be used. */
export interface JournalReading {
  readonly entry?: JournalEntry;
  readonly unreadable: readonly string[];
}

/** The newest complete entry: of the latest attempt that has one, the highest sequence. */
export async function readJournal(fileSystem: Reading, folder: string): Promise<JournalReading> {
  const unreadable: string[] = [];
  for (const attempt of newestFirst(await listOrNothing(fileSystem, folder))) {
    for (const file of newestFirst(await listOrNothing(fileSystem, attempt.path))) {
      try {
        return { entry: decodeJournalEntry(await text(await fileSystem.open(file.path))), unreadable };
      } catch (error) {
        unreadable.push(`${file.path}: ${errorMessage(error)}`);
      }
    }
  }
  return { unreadable };
}

/**
 * What an earlier attempt left, for a later one: none is an answer, but a file system that is away is not. It is asked again until it is
 * back, because a job that began anew meanwhile would throw away what still runs.
 */
export async function earlierJournal(
  fileSystem: Reading,
  folder: string,
  log: Log,
): Promise<{ readonly journal?: unknown }> {
  for (;;) {
    try {
      const { entry, unreadable } = await readJournal(fileSystem, folder);
      for (const problem of unreadable)
        log.warn("journal-unreadable", `A part of the journal is passed over: ${problem}.`);
      return entry === undefined ? {} : { journal: entry.snapshot };
    } catch (error) {
      log.warn("journal-unreadable", `The journal cannot be read yet: ${errorMessage(error)}`);
      await new Promise((resolve) => setTimeout(resolve, readAgainMs));
    }
  }
}

async function listOrNothing(fileSystem: Reading, folder: string): Promise<readonly Listed[]> {
  try {
    return await fileSystem.list(folder);
  } catch (error) {
    if (hasCode(error, "FILE_NOT_FOUND")) return [];
    throw error;
  }
}

/** Names are numbers; drafts and strangers are none. */
function newestFirst(entries: readonly Listed[]): Listed[] {
  const number = (entry: Listed): number => Number(path.posix.basename(entry.path));
  return entries.filter((entry) => Number.isInteger(number(entry))).sort((a, b) => number(b) - number(a));
}
