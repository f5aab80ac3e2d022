import path from "node:path";
import { buffer } from "node:stream/consumers";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { keytabFileName } from "../../src/job/stored/job-keytab.ts";
import { attemptOfMasterFile, masterFile, removeStaged, STAGED_FOLDERS } from "../../src/job/stored/staged-folder.ts";
import { killedFileName, leftStatusFileName, tokensFileName } from "../../src/job/stored/stored-job.ts";

/** What an attempt leaves in the staging folder for those who look for it: late clients, and executors whose stream broke. */
export interface MasterAddress {
  readonly attempt: number;
  readonly host: string;
  readonly port: number;
}

/** The application's staging folder, which exists as long as the application runs. */
export class Staging {
  readonly #fileSystem: FileSystem;
  readonly #folder: string;
  #announcing: Promise<void> = Promise.resolve();

  constructor(fileSystem: FileSystem, folder: string) {
    this.#fileSystem = fileSystem;
    this.#folder = folder;
  }

  get journalFolder(): string {
    return path.posix.join(this.#folder, STAGED_FOLDERS.journal);
  }

  get storeFolder(): string {
    return path.posix.join(this.#folder, STAGED_FOLDERS.store);
  }

  feedFolder(feed: string): string {
    return path.posix.join(this.#folder, STAGED_FOLDERS.feeds, feed);
  }

  /** The journal folder of files that came to the feed later. */
  feedInputFolder(feed: string): string {
    return path.posix.join(this.feedFolder(feed), "input");
  }

  get tokensFile(): string {
    return path.posix.join(this.#folder, tokensFileName);
  }

  /** Who ended a job of the local scheduler by a signal to its AM. Rejects where nobody left that. */
  async killReason(): Promise<string> {
    return (await buffer(await this.#fileSystem.open(path.posix.join(this.#folder, killedFileName)))).toString("utf8");
  }

  /** The job's keytab, where it ships one. */
  async keytab(): Promise<Uint8Array> {
    return await buffer(await this.#fileSystem.open(path.posix.join(this.#folder, keytabFileName)));
  }

  /** Writes the attempt's address. */
  announce(address: MasterAddress): Promise<void> {
    this.#announcing = this.#write(masterFile(address.attempt), jsonOf(address));
    return this.#announcing;
  }

  /** Keeps what is known of tasks over time, for a later attempt. */
  async keepSeries(attempt: number, file: Uint8Array): Promise<void> {
    await this.#write(keptSeriesFile(attempt), file);
  }

  /** What the latest attempt before this one kept in this way; undefined where none did. */
  async keptSeries(before: number): Promise<Uint8Array | undefined> {
    for (let attempt = before - 1; attempt > 0; attempt -= 1) {
      const file = path.posix.join(this.#folder, keptSeriesFile(attempt));
      const kept = await ifThere(this.#fileSystem.open(file).then((stream) => buffer(stream)));
      if (kept !== undefined) return kept;
    }
    return undefined;
  }

  /** The latest attempt that has left its address; 0 where none has. Rejects where the folder cannot be read. */
  async latestAttempt(): Promise<number> {
    const entries = await this.#fileSystem.list(this.#folder);
    return Math.max(0, ...entries.map((entry) => attemptOfMasterFile(path.posix.basename(entry.path)) ?? 0));
  }

  /**
   * On a cluster, only its history and the logs that YARN keeps remain of an application that has ended. Nothing may still be writing
   * there: a file written later would create the folder again.
   */
  async remove(): Promise<void> {
    await this.#announcing.catch(() => undefined);
    await removeStaged(this.#fileSystem, this.#folder);
  }

  /** With the local scheduler the logs and the outcome are read there later; what only the running job needed is removed. */
  async keepResult(status: JobStatus): Promise<void> {
    await this.#write("status.json", jsonOf(status));
    const entries = await this.#fileSystem.list(this.#folder);
    const temporary = /^(journal|store|client\.json|container_tokens|left-status\.json)$/;
    const isTemporary = (name: string) => temporary.test(name) || attemptOfMasterFile(name) !== undefined;
    for (const { path: entry } of entries.filter((found) => isTemporary(path.posix.basename(found.path)))) {
      await this.#fileSystem.delete(entry, { recursive: true });
    }
  }

  /** For anybody who asks how the job ended, if no later attempt follows. One call only: a NodeManager's SIGKILL is near. */
  async leave(status: JobStatus): Promise<void> {
    const file = path.posix.join(this.#folder, leftStatusFileName);
    await this.#fileSystem.create(file, jsonOf(status), { permission: 0o600, overwrite: true });
  }

  /** The same while the job goes on. */
  async leaveWhole(status: JobStatus): Promise<void> {
    await this.#write(leftStatusFileName, jsonOf(status));
  }

  /** Under a temporary name first, so that a reader sees whole files only. */
  async #write(name: string, content: Uint8Array): Promise<void> {
    const target = path.posix.join(this.#folder, name);
    const draft = `${target}.tmp`;
    await this.#fileSystem.create(draft, content, { permission: 0o600, overwrite: true });
    await this.#fileSystem.rename(draft, target, { overwrite: true });
  }
}

const jsonOf = (content: unknown): Buffer => Buffer.from(JSON.stringify(content));
const keptSeriesFile = (attempt: number): string => `series-${attempt}.jsonl.gz`;
