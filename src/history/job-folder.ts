import path from "node:path";
import { TonyError } from "../errors.ts";
import { hasCode } from "../hadoop/hdfs/errors.ts";
import type { FileSystem } from "../hadoop/hdfs/file-system.ts";
import type { FileSystems } from "../hadoop/hdfs/file-systems.ts";
import { ifThere, listIfThere } from "../hadoop/hdfs/if-there.ts";
import { ownerName } from "../hadoop/process-owner.ts";
import type { JobSpec } from "../job/spec.ts";
import {
  finishedFolder,
  finishedHistoryFile,
  type HistoryEnd,
  type HistoryJob,
  historyFileInProgress,
  historyFolder,
  pageKeyFile,
  startOfUnfinished,
  tonyHistoryFile,
} from "./layout.ts";

/** Anybody may add entries of their own, as in /tmp. */
const shared = 0o1777;
/** As TonY sets it for a job's folder: the user that runs the history server belongs to its group. */
const ownFolder = 0o770;

/** The locations of all jobs' folders: for running jobs and for ended ones; undefined without `tony.history.location`. */
export function historyPlaces(
  fileSystems: Pick<FileSystems, "locate">,
  { location, intermediate, finished }: JobSpec["history"],
): { readonly fileSystem: FileSystem; readonly intermediate: string; readonly finished: string } | undefined {
  if (location === undefined) return undefined;
  const { fileSystem, path: root } = fileSystems.locate(location);
  const below = (setting: string | undefined, name: string) =>
    setting === undefined ? path.posix.join(root, name) : fileSystems.locate(setting).path;
  return { fileSystem, intermediate: below(intermediate, "intermediate"), finished: below(finished, "finished") };
}

/** A job's folder below `tony.history.location`: among the running jobs, and once the job has ended among those of that day. */
export class JobHistoryFolder {
  readonly fileSystem: FileSystem;
  readonly path: string;
  readonly #applicationId: string;
  readonly #intermediate: string;
  readonly #finished: string;
  readonly #timeZone: string;

  private constructor(fileSystem: FileSystem, intermediate: string, finished: string, id: string, timeZone: string) {
    this.fileSystem = fileSystem;
    this.#intermediate = intermediate;
    this.#finished = finished;
    this.#applicationId = id;
    this.#timeZone = timeZone;
    this.path = historyFolder(intermediate, id);
  }

  /** Undefined for a job without `tony.history.location`. */
  static of(
    fileSystems: Pick<FileSystems, "locate">,
    settings: JobSpec["history"],
    id: string,
  ): JobHistoryFolder | undefined {
    const places = historyPlaces(fileSystems, settings);
    if (places === undefined) return undefined;
    return new JobHistoryFolder(places.fileSystem, places.intermediate, places.finished, id, settings.timeZone);
  }

  /**
   * Creates the folder. Whoever comes first also creates the folder for all jobs.
   * @param user the job's user
   * @throws TonyError `HISTORY_NOT_OURS` if somebody else created it: its owner could read what is stored there, including the page's key
   */
  async make(user: string): Promise<void> {
    await this.fileSystem.mkdirs(this.#intermediate, shared);
    await this.fileSystem.mkdirs(this.path, ownFolder);
    const { owner } = await this.fileSystem.stat(this.path);
    const own = this.fileSystem.uri === "file://" ? ownerName() : user;
    if (owner !== own)
      throw new TonyError(`${this.path} belongs to ${owner}, not to ${own}`, { code: "HISTORY_NOT_OURS" });
  }

  /** Writes a file into the folder, which exists by then, replacing one of that name. */
  async write(name: string, content: Uint8Array): Promise<void> {
    await this.fileSystem.create(path.posix.join(this.path, name), content, { permission: 0o660, overwrite: true });
  }

  /** Removes the files that only a running job has: those by which TonY's readers recognise it, and its page's key. */
  async removeUnfinished(): Promise<void> {
    for (const name of await this.#names()) {
      if (startOfUnfinished(name) !== undefined || name === pageKeyFile)
        await this.fileSystem.delete(path.posix.join(this.path, name));
    }
  }

  /**
   * Moves the folder to those of jobs that ended that day. If a site leaves that to its history server, and allows nobody else to write
   * there, it stays; TonY's readers look in both places.
   * @returns whether it was moved
   */
  async moveToFinished(endedAtMs: number): Promise<boolean> {
    const target = this.#finishedFolder(endedAtMs);
    try {
      for (const folder of daysAbove(target)) await this.fileSystem.mkdirs(folder, shared);
      return await this.fileSystem.rename(this.path, target);
    } catch (error) {
      if (!hasCode(error, "ACCESS_DENIED")) throw error;
      return false;
    }
  }

  /** Its present location: among those that ended on the day of its end, or, until it is moved, among the running ones. */
  async find(endedAtMs: number | undefined): Promise<string | undefined> {
    const ended = endedAtMs === undefined ? [] : [this.#finishedFolder(endedAtMs)];
    for (const folder of [...ended, this.path]) {
      if ((await ifThere(this.fileSystem.stat(folder))) !== undefined) return folder;
    }
    return undefined;
  }

  /** Whether readers take the job for a running one. */
  async isInProgress(): Promise<boolean> {
    return (await this.#names()).some(
      (name) => name === historyFileInProgress || startOfUnfinished(name) !== undefined,
    );
  }

  /** Renames the files of a job that only YARN has ended to those of an ended job. @returns whether the folder was moved to the ended jobs */
  async closeAbandoned(job: HistoryJob, end: HistoryEnd): Promise<boolean> {
    const names = await this.#names();
    const unfinished = names.filter((name) => startOfUnfinished(name) !== undefined);
    const startedAtMs = unfinished.map(startOfUnfinished).find((ms) => ms !== undefined) ?? job.startedAtMs;
    const started = { ...job, startedAtMs };
    const [first, ...others] = unfinished;
    if (first !== undefined) await this.#rename(first, tonyHistoryFile(started, end));
    const keys = names.filter((name) => name === pageKeyFile);
    for (const name of [...others, ...keys]) await this.fileSystem.delete(path.posix.join(this.path, name));
    if (names.includes(historyFileInProgress))
      await this.#rename(historyFileInProgress, finishedHistoryFile(started, end));
    return names.length > 0 && (await this.moveToFinished(end.endedAtMs));
  }

  #finishedFolder(endedAtMs: number): string {
    const job = { applicationId: this.#applicationId, endedAtMs, timeZone: this.#timeZone };
    return finishedFolder(this.#finished, job);
  }

  async #rename(from: string, to: string): Promise<void> {
    await this.fileSystem.rename(path.posix.join(this.path, from), path.posix.join(this.path, to));
  }

  async #names(): Promise<string[]> {
    const entries = await listIfThere(this.fileSystem, this.path);
    return entries.map((entry) => path.posix.basename(entry.path));
  }
}

/**
 * `…/finished`, `…/finished/2026`, `…/finished/2026/11`, `…/finished/2026/11/23`: each is created by its own call, so that all get the
 * permissions.
 */
function daysAbove(target: string): string[] {
  const day = path.posix.dirname(target);
  const month = path.posix.dirname(day);
  const year = path.posix.dirname(month);
  return [path.posix.dirname(year), year, month, day];
}
