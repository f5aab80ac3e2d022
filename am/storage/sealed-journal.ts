import path from "node:path";
import { text } from "node:stream/consumers";
import { TonyError } from "../../src/errors.ts";
import { createReadable } from "../../src/hadoop/hdfs/create-readable.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { decodeJournalEntry, encodeJournalEntry } from "../../src/journal/entry.ts";

export interface SealedJournalOptions<Content> {
  readonly fileSystem: FileSystem;
  /** Has a folder for each attempt. */
  readonly folder: string;
  readonly attempt: number;
  /** Decodes a file's content. Throws where it is not valid. */
  readonly decode: (content: unknown) => Content;
}

/** A file with the attempt that wrote it. */
export interface WrittenFile<Content> {
  readonly attempt: number;
  readonly file: Content;
}

export interface JournalWrite {
  readonly sequence: number;
  /** JSON. */
  readonly content: string;
  /** The files before it are of no use once it is written. */
  readonly isWhole: boolean;
}

/** Nothing is written any more: the job has ended, or a later attempt has taken over. */
export const journalClosed = "JOURNAL_CLOSED";

/**
 * The files of a job's key-value store, or of a feed: `<folder>/<attempt>/<sequence>`, each under a temporary name first. Before it reads, a
 * later attempt moves the folders of earlier ones away, and leaves a file in the place of each: whatever an earlier attempt that was only paused
 * writes from then on fails, so that nothing is reported as safe that is not read.
 */
export class SealedJournal<Content> {
  readonly #options: SealedJournalOptions<Content>;
  readonly #home: string;
  readonly #underWay = new Set<Promise<unknown>>();
  #written: string[] = [];
  #sealed: string[] = [];
  #hasHome = false;
  #isClosed = false;

  constructor(options: SealedJournalOptions<Content>) {
    this.#options = options;
    this.#home = path.posix.join(options.folder, String(options.attempt));
  }

  /** What earlier attempts wrote, in order; none of them can write anything from then on. Rejects as the file system, and as decoding. */
  async read(): Promise<readonly WrittenFile<Content>[]> {
    const { fileSystem, folder, attempt, decode } = this.#options;
    if (attempt === 1) return [];
    await fileSystem.mkdirs(folder, 0o700);
    for (let earlier = 1; earlier < attempt; earlier += 1) await this.#seal(earlier);
    const folders = (await fileSystem.list(folder)).map(sealedFolder).filter((one) => one !== undefined);
    this.#sealed = folders
      .sort((left, right) => left.attempt - right.attempt || left.nth - right.nth)
      .map(({ path: name }) => name);
    const files: WrittenFile<Content>[] = [];
    for (const sealed of this.#sealed) {
      for (const { path: file } of inOrder(await fileSystem.list(sealed))) {
        const entry = decodeJournalEntry(await text(await fileSystem.open(file)));
        files.push({ attempt: entry.attempt, file: decode(entry.snapshot) });
      }
    }
    return files;
  }

  /** Resolves when the file is safe; rejects with a FileSystemError, or a TonyError (`JOURNAL_CLOSED`) where a later attempt has taken over. */
  write(write: JournalWrite): Promise<void> {
    return this.#track(this.#write(write));
  }

  /** Resolves when nothing is being written; nothing is written from then on. */
  async settled(): Promise<void> {
    this.#isClosed = true;
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  async #write({ sequence, content, isWhole }: JournalWrite): Promise<void> {
    const { fileSystem, folder, attempt } = this.#options;
    if (this.#isClosed) throw notWritten("the job has ended");
    if (!this.#hasHome) await fileSystem.mkdirs(this.#home, 0o700);
    this.#hasHome = true;
    // Beside the attempt's folder: a draft inside it would recreate the folder that a later attempt has moved away.
    const draft = path.posix.join(folder, `.${attempt}-${sequence}.tmp`);
    const target = path.posix.join(this.#home, String(sequence));
    const { closed } = await createReadable(
      fileSystem,
      draft,
      encodeJournalEntry({ attempt, sequence }, content),
      0o600,
    );
    void this.#track(closed);
    if (!(await fileSystem.rename(draft, target))) throw notWritten("a later attempt has taken over");
    if (isWhole) void this.#track(this.#removeOld());
    this.#written.push(target);
  }

  /** Files before a whole one are of no use; those that cannot be removed now are removed with the staging folder. */
  async #removeOld(): Promise<void> {
    const { fileSystem } = this.#options;
    const [files, folders] = [this.#written, this.#sealed];
    this.#written = [];
    this.#sealed = [];
    for (const file of files) await fileSystem.delete(file).catch(() => {});
    for (const folder of folders) await fileSystem.delete(folder, { recursive: true }).catch(() => {});
  }

  async #seal(attempt: number): Promise<void> {
    const { fileSystem, folder } = this.#options;
    const home = path.posix.join(folder, String(attempt));
    for (let nth = 1; ; nth += 1) {
      const found = (await listIfThere(fileSystem, folder)).find((entry) => entry.path === home);
      if (found?.type === "FILE") return;
      if (found !== undefined) await fileSystem.rename(home, `${home}-sealed-${this.#options.attempt}-${nth}`);
      try {
        await fileSystem.create(home, new Uint8Array(), { permission: 0o600 });
      } catch (error) {
        // The earlier attempt has made its folder in between.
        if (!hasCode(error, "FILE_EXISTS")) throw error;
      }
    }
  }

  #track<T>(work: Promise<T>): Promise<T> {
    this.#underWay.add(work);
    const done = () => this.#underWay.delete(work);
    work.then(done, done);
    return work;
  }
}

interface SealedFolder {
  readonly attempt: number;
  readonly nth: number;
  readonly path: string;
}

function sealedFolder({ path: folder }: Pick<FileStatus, "path">): SealedFolder | undefined {
  const [, attempt, nth] = /^(\d+)-sealed-\d+-(\d+)$/.exec(path.posix.basename(folder)) ?? [];
  return attempt === undefined ? undefined : { attempt: Number(attempt), nth: Number(nth), path: folder };
}

/** By their numbers. */
function inOrder(files: readonly FileStatus[]): FileStatus[] {
  const number = ({ path: file }: FileStatus) => Number(path.posix.basename(file));
  return [...files].sort((left, right) => number(left) - number(right));
}

function notWritten(why: string): TonyError {
  return new TonyError(`Nothing is written: ${why}`, { code: journalClosed });
}
