import path from "node:path";
import { sleep } from "../src/hadoop/clock.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { createReadable } from "../src/hadoop/hdfs/create-readable.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { encodeJournalEntry } from "../src/journal/entry.ts";
import { type JournalFiles, readJournal } from "../src/journal/reader.ts";
import type { Log } from "../src/log.ts";

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
  write(sequence: number, snapshotJson: string): Promise<void> {
    return this.#track(this.#write(sequence, snapshotJson));
  }

  /** Resolves when nothing is being written: a write that ended after the folder's removal would make the folder anew. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #write(sequence: number, snapshotJson: string): Promise<void> {
    const { fileSystem, folder, attempt } = this.#options;
    const home = path.posix.join(folder, String(attempt));
    const draft = path.posix.join(home, `.${sequence}.tmp`);
    const target = path.posix.join(home, String(sequence));
    const content = encodeJournalEntry({ attempt, sequence }, snapshotJson);
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

/**
 * What an earlier attempt left, for a later one: none is an answer, but a file system that is away is not. It is asked again until it is
 * back, because a job that began anew meanwhile would throw away what still runs.
 */
export async function earlierJournal(
  fileSystem: JournalFiles,
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
      await sleep(readAgainMs);
    }
  }
}
