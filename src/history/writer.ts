import path from "node:path";
import { errorMessage } from "../hadoop/errors.ts";
import { hasCode } from "../hadoop/hdfs/errors.ts";
import type { FileSystem } from "../hadoop/hdfs/file-system.ts";
import { historyFileInProgress } from "./layout.ts";
import { encodeHistoryRecord, type UnnumberedRecord } from "./records.ts";

/** Lines are batched for this long, because an append costs the NameNode several operations. */
const gatherMs = 2_000;
const retryMs = 10_000;
/** How much is buffered while the file system is unavailable; beyond it the oldest lines are dropped. */
const mostWaitingBytes = 4 * 2 ** 20;

export interface HistoryWriterOptions {
  readonly fileSystem: FileSystem;
  /** See historyFolder. */
  readonly folder: string;
  /** Rejects if nothing may be written there. */
  readonly makeFolder: () => Promise<void>;
  readonly attempt: number;
  /** Called for the first of a series of failures, and when lines are dropped. History never stops a job. */
  readonly warn: (message: string) => void;
}

/** Appends a job's records to its history file, in batches and in order, until it is finished. */
export class HistoryWriter {
  readonly #options: HistoryWriterOptions;
  readonly #file: string;
  #number = 0;
  #waiting: string[] = [];
  #waitingBytes = 0;
  #exists = false;
  #failing = false;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(options: HistoryWriterOptions) {
    this.#options = options;
    this.#file = path.posix.join(options.folder, historyFileInProgress);
  }

  add(record: UnnumberedRecord): void {
    this.#number += 1;
    const line = encodeHistoryRecord({ ...record, attempt: this.#options.attempt, number: this.#number });
    this.#waiting.push(line);
    this.#waitingBytes += line.length;
    this.#giveUpOldest();
    this.#flushIn(gatherMs);
  }

  /** Writes what is buffered; resolves after one try. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    this.#flushing = this.#write();
    await this.#flushing;
    this.#flushing = undefined;
    if (this.#waiting.length > 0) this.#flushIn(retryMs);
  }

  /** Writes the rest and gives the file its final name; nothing may be added afterwards. Resolves after the try. */
  async finish(finalName: string): Promise<void> {
    await this.flush();
    clearTimeout(this.#timer);
    if (!this.#exists) return;
    const target = path.posix.join(this.#options.folder, finalName);
    await this.#options.fileSystem.rename(this.#file, target).catch((error: unknown) => this.#failed(error));
  }

  /** Writes another file of the job into the same folder. */
  async writeBeside(name: string, content: Uint8Array): Promise<void> {
    const { fileSystem, folder, makeFolder } = this.#options;
    await makeFolder();
    await fileSystem.create(path.posix.join(folder, name), content, { permission: 0o640, overwrite: true });
  }

  #flushIn(delayMs: number): void {
    this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref();
  }

  async #write(): Promise<void> {
    const lines = this.#waiting;
    if (lines.length === 0) return;
    this.#waiting = [];
    this.#waitingBytes = 0;
    try {
      await this.#append(Buffer.from(lines.join("")));
      this.#failing = false;
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting];
      this.#waitingBytes = this.#waiting.reduce((sum, line) => sum + line.length, 0);
      this.#failed(error);
    }
  }

  /** An earlier attempt may already have created the file. */
  async #append(bytes: Uint8Array): Promise<void> {
    const { fileSystem, makeFolder } = this.#options;
    if (!this.#exists) {
      await makeFolder();
      try {
        await fileSystem.create(this.#file, bytes, { permission: 0o640 });
        this.#exists = true;
        return;
      } catch (error) {
        if (!hasCode(error, "FILE_EXISTS")) throw error;
        this.#exists = true;
      }
    }
    await fileSystem.append(this.#file, bytes);
  }

  #failed(error: unknown): void {
    if (!this.#failing) this.#options.warn(`The history in ${this.#file} cannot be written: ${errorMessage(error)}`);
    this.#failing = true;
  }

  #giveUpOldest(): void {
    let givenUp = 0;
    while (this.#waitingBytes > mostWaitingBytes) {
      this.#waitingBytes -= this.#waiting.shift()?.length ?? this.#waitingBytes;
      givenUp += 1;
    }
    if (givenUp > 0) this.#options.warn(`${givenUp} lines of history were given up: ${this.#file} cannot be written`);
  }
}
