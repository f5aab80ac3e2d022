import path from "node:path";
import { text } from "node:stream/consumers";
import { errorMessage } from "../src/hadoop/errors.ts";
import { hasCode } from "../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import type { Clock } from "./clock.ts";
import { decodeJournalEntry, encodeJournalEntry, type JournalEntry } from "./journal-file.ts";

/** Between the starts of two writes: a NameNode serves the whole cluster. */
const shortestIntervalMs = 200;
const firstRetryMs = 1_000;
const longestRetryMs = 10_000;
/** A reader may be opening the one before the newest. */
const keptFiles = 2;

export interface JournalEvents {
  /** This snapshot is safe, and with it all that came before it. */
  written(sequence: number): void;
  /** It will be tried again, with the newest snapshot by then. */
  failed(sequence: number, message: string): void;
}

export interface JournalOptions {
  readonly fileSystem: FileSystem;
  /** Holds a folder for each attempt. */
  readonly folder: string;
  readonly attempt: number;
  readonly clock: Clock;
  readonly events: JournalEvents;
}

interface Snapshot {
  readonly sequence: number;
  readonly snapshot: unknown;
}

/**
 * Writes snapshots to `<folder>/<attempt>/<sequence>`: one write at a time, the latest wins, each under a temporary name first, so that
 * a reader sees whole files only.
 */
export class JournalWriter {
  readonly #options: JournalOptions;
  #next: Snapshot | undefined;
  #writing: Promise<void> | undefined;
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #retryMs = firstRetryMs;
  #cancelWait: (() => void) | undefined;
  #written: string[] = [];
  #closed = false;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  write(sequence: number, snapshot: unknown): void {
    if (this.#closed) return;
    this.#next = { sequence, snapshot };
    if (this.#writing === undefined && this.#cancelWait === undefined) this.#writeIn(0);
  }

  /** Writes what waits without further delay, once, and ends. Bounded by the file system's own timeouts. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelWait?.();
    await this.#writing;
    const last = this.#next;
    if (last !== undefined) await this.#store(last).catch(() => {});
  }

  #writeIn(delayMs: number): void {
    const { clock } = this.#options;
    const waitMs = Math.max(delayMs, this.#lastStartMs + shortestIntervalMs - clock.nowMs(), 0);
    this.#cancelWait = clock.after(waitMs, () => {
      this.#cancelWait = undefined;
      this.#writing = this.#writeNext();
    });
  }

  async #writeNext(): Promise<void> {
    const current = this.#next;
    if (current === undefined) return;
    this.#next = undefined;
    this.#lastStartMs = this.#options.clock.nowMs();
    let delayMs = 0;
    try {
      await this.#store(current);
      this.#retryMs = firstRetryMs;
      this.#options.events.written(current.sequence);
    } catch (error) {
      this.#next ??= current;
      delayMs = this.#retryMs;
      this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
      this.#options.events.failed(current.sequence, errorMessage(error));
    }
    this.#writing = undefined;
    if (this.#next !== undefined && !this.#closed) this.#writeIn(delayMs);
  }

  async #store({ sequence, snapshot }: Snapshot): Promise<void> {
    const { fileSystem, folder, attempt } = this.#options;
    const home = path.posix.join(folder, String(attempt));
    const draft = path.posix.join(home, `.${sequence}.tmp`);
    const target = path.posix.join(home, String(sequence));
    await fileSystem.create(draft, encodeJournalEntry({ attempt, sequence, snapshot }), {
      permission: 0o600,
      overwrite: true,
    });
    // A sequence is written once in an attempt: a file of that name is the same entry, whose rename was answered too late.
    await fileSystem.rename(draft, target, { overwrite: true });
    this.#written.push(target);
    await this.#removeOld();
  }

  /** What cannot be removed goes with the staging folder. */
  async #removeOld(): Promise<void> {
    while (this.#written.length > keptFiles) {
      const oldest = this.#written.shift();
      if (oldest !== undefined) await this.#options.fileSystem.delete(oldest).catch(() => {});
    }
  }
}

/** What an earlier attempt left. `unreadable` names files that were newer than the entry and could not be used. */
export interface JournalReading {
  readonly entry?: JournalEntry;
  readonly unreadable: readonly string[];
}

/** The newest complete entry: of the latest attempt that has one, the highest sequence. */
export async function readJournal(fileSystem: FileSystem, folder: string): Promise<JournalReading> {
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

async function listOrNothing(fileSystem: FileSystem, folder: string): Promise<FileStatus[]> {
  try {
    return await fileSystem.list(folder);
  } catch (error) {
    if (hasCode(error, "FILE_NOT_FOUND")) return [];
    throw error;
  }
}

/** Names are numbers; drafts and strangers are none. */
function newestFirst(entries: readonly FileStatus[]): FileStatus[] {
  const number = (entry: FileStatus): number => Number(path.posix.basename(entry.path));
  return entries.filter((entry) => Number.isInteger(number(entry))).sort((a, b) => number(b) - number(a));
}
