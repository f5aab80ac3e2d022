import path from "node:path";
import { sleep } from "../../src/hadoop/clock.ts";
import { createReadable } from "../../src/hadoop/hdfs/create-readable.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { encodeJournalEntry } from "../../src/journal/entry.ts";
import { type JournalFiles, partName, readJournal } from "../../src/journal/reader.ts";
import type { Log } from "../../src/log.ts";
import { readUntilAnswered } from "./read-until-answered.ts";

/** A reader may be opening the file before the newest. */
const keptFiles = 2;

export interface JournalOptions {
  readonly fileSystem: FileSystem;
  /** Has a folder for each attempt. */
  readonly folder: string;
  readonly attempt: number;
}

/**
 * Writes snapshots to `<folder>/<attempt>/<sequence>`, each under a temporary name first, so that a reader sees whole files only. What later
 * snapshots leave out is in a file of its own beside them, which stays. The core decides when to write, and how often after a failure; it has
 * one write under way at a time.
 */
export class JournalWriter {
  readonly #options: JournalOptions;
  #written: string[] = [];
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the snapshot is safe; rejects with a FileSystemError.
   * @param part JSON of what later ones leave out
   */
  write(sequence: number, snapshotJson: string, part?: string): Promise<void> {
    return this.#track(this.#writeBoth(sequence, snapshotJson, part));
  }

  /** Resolves when nothing is being written: a write that ended after the folder's removal would create the folder again. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #writeBoth(sequence: number, snapshotJson: string, part?: string): Promise<void> {
    const name = String(sequence);
    const writes = [this.#write(sequence, name, snapshotJson)];
    if (part !== undefined) writes.push(this.#write(sequence, partName(sequence), part));
    const [target = ""] = await Promise.all(writes);
    this.#written.push(target);
    void this.#track(this.#removeOld());
  }

  /** @returns its path */
  async #write(sequence: number, name: string, json: string): Promise<string> {
    const { fileSystem, folder, attempt } = this.#options;
    const home = path.posix.join(folder, String(attempt));
    const draft = path.posix.join(home, `.${name}.tmp`);
    const target = path.posix.join(home, name);
    const content = encodeJournalEntry({ attempt, sequence }, json);
    const { closed } = await createReadable(fileSystem, draft, content, 0o600);
    void this.#track(closed);
    await fileSystem.rename(draft, target);
    return target;
  }

  #track(work: Promise<void>): Promise<void> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }

  /** Files that cannot be removed now are removed with the staging folder. */
  async #removeOld(): Promise<void> {
    while (this.#written.length > keptFiles) {
      const oldest = this.#written.shift();
      if (oldest !== undefined) await this.#options.fileSystem.delete(oldest).catch(() => {});
    }
  }
}

/**
 * The snapshot that an earlier attempt left; empty when there is none. While the file system is away the read is repeated, because a job that
 * started from nothing would throw away what still runs.
 */
export async function earlierJournal(
  fileSystem: JournalFiles,
  folder: string,
  log: Log,
): Promise<{ readonly journal?: unknown }> {
  const { entry, unreadable } = await readUntilAnswered(() => readJournal(fileSystem, folder), {
    mayPass: () => true,
    waits: (reason) => log.warn("journal-unreadable", `The journal cannot be read yet: ${reason}`),
    pause: sleep,
  });
  for (const problem of unreadable) log.warn("journal-unreadable", `A part of the journal is skipped: ${problem}.`);
  return entry === undefined ? {} : { journal: entry.snapshot };
}
