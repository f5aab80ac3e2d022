import path from "node:path/posix";
import { setImmediate } from "node:timers/promises";
import { errorCode, errorMessage } from "../src/hadoop/errors.ts";
import type { FileStatus, FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { ifThere, listIfThere } from "../src/hadoop/hdfs/if-there.ts";
import type { ApplicationReport } from "../src/hadoop/yarn/records.ts";
import type { Roundings } from "../src/job/amounts.ts";
import { hasEnded, yarnOutcome } from "../src/job/outcome.ts";
import type { JobOutcome } from "../src/job/status.ts";
import { yarnState } from "../src/page/live-answer.ts";
import type { JobRow, Scan } from "../src/page/portal-answers.ts";
import type { DaySegments } from "./day-segments.ts";
import { readStoredJob, readUsage, type StoredJob } from "./stored-job.ts";
import { isUnfinished, keyOf, sumOf, type Tally, tallyOf } from "./tally.ts";
import { yarnUsage } from "./yarn-usage.ts";

/** A job whose history was read. */
export interface KnownJob {
  readonly applicationId: string;
  readonly folder: string;
  /** When something was added to its folder, or taken from it. */
  readonly changedAtMs: number;
  /** Of its files. */
  readonly bytes: number;
  readonly row: JobRow;
  /** What YARN says of one whose history has no end. */
  readonly outcome?: JobOutcome;
}

export interface JobIndexOptions {
  readonly fileSystem: FileSystem;
  /** Where the folders of jobs are that run, and of those that have ended. */
  readonly intermediate: string;
  readonly finished: string;
  /** What the ResourceManager says of an application. */
  readonly report: (applicationId: string) => Promise<ApplicationReport>;
  /** As the cluster rounds what jobs ask for. */
  readonly roundings: Roundings;
  readonly nowMs: () => number;
  /** What was read before; absent: nothing is kept. */
  readonly segments?: Pick<DaySegments, "gone" | "load" | "prepare" | "remove" | "save" | "saveGone">;
}

/** Each waits for the NameNode or a DataNode most of its time. */
const READERS = 24;
const MOST_UNREADABLE = 100;
/** Of a name, or a cause: rows stay in memory, and a job writes what it likes into its history. */
const MOST_TEXT = 1_000;
const MOST_TAGS = 20;
const LATEST_MONTHS = 2;
const SORTED_FOR_MS = 1_000;
const APPLICATION_ID = /^application_\d+_\d+$/;

/** The jobs of a history, from their folders, in memory; and of its days from what an earlier portal has read, where that is kept. */
export class JobIndex {
  readonly #options: JobIndexOptions;
  readonly #known = new Map<string, KnownJob>();
  /** The jobs of a folder: of a day, or of those that run. */
  readonly #ofPlace = new Map<string, Set<string>>();
  readonly #gone = new Map<string, Tally>();
  #isGoneKept = true;
  /** By folder of a day: when it had changed last. */
  readonly #days = new Map<string, number>();
  readonly #unreadable = new Map<string, { readonly changedAtMs: number; readonly why: string }>();
  #rows: readonly JobRow[] = [];
  #isSorted = true;
  #sortedAtMs = Number.NEGATIVE_INFINITY;
  #restoring: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  /** How many jobs an earlier portal had read. */
  #restored = 0;
  #keepTrouble: string | undefined;
  #scan: Omit<Scan, "unreadable"> = { isComplete: false, folders: 0, read: 0, atMs: 0 };

  constructor(options: JobIndexOptions) {
    this.#options = options;
  }

  get scan(): Scan {
    const unreadable = [...this.#unreadable].slice(-MOST_UNREADABLE).map(([folder, { why }]) => ({ folder, why }));
    const restored = this.#restored === 0 ? {} : { restored: this.#restored };
    return { ...this.#scan, ...restored, ...(this.#keepTrouble && { keepTrouble: this.#keepTrouble }), unreadable };
  }

  /** The newest first. While jobs are read they are sorted anew once a second at most: with a hundred thousand that takes a while. */
  get rows(): readonly JobRow[] {
    if (this.#isSorted) return this.#rows;
    const nowMs = this.#options.nowMs();
    const isReading = (this.#restoring ?? this.#refreshing) !== undefined;
    if (isReading && nowMs - this.#sortedAtMs < SORTED_FOR_MS) return this.#rows;
    this.#rows = [...this.#known.values()]
      .map(({ row }) => row)
      .sort((a, b) => b.startedAtMs - a.startedAtMs || (a.applicationId < b.applicationId ? 1 : -1));
    this.#isSorted = true;
    this.#sortedAtMs = nowMs;
    return this.#rows;
  }

  get known(): readonly KnownJob[] {
    return [...this.#known.values()];
  }

  /** What jobs came to whose history has been removed, also by earlier portals, as far as that was kept: its counters do not go back. */
  get gone(): readonly Tally[] {
    return [...this.#gone.values()];
  }

  /** Of a job whose history was removed. */
  forget(applicationId: string): void {
    const job = this.#known.get(applicationId);
    if (job === undefined) return;
    this.#drop(job);
    this.#addGone(tallyOf(job.row));
    this.#isGoneKept = false;
  }

  #addGone(tally: Tally): void {
    const key = keyOf(tally);
    const before = this.#gone.get(key);
    this.#gone.set(key, before === undefined ? tally : sumOf(before, tally));
  }

  /** Keeps for the next start what removed jobs came to. */
  async keepGone(): Promise<void> {
    const { segments } = this.#options;
    if (segments === undefined || this.#isGoneKept) return;
    this.#isGoneKept = true;
    this.#isGoneKept = await this.#keeping(segments.saveGone(this.gone));
  }

  #put(job: KnownJob): void {
    const before = this.#known.get(job.applicationId);
    if (before !== undefined) this.#drop(before);
    const place = path.dirname(job.folder);
    const there = this.#ofPlace.get(place) ?? new Set();
    this.#ofPlace.set(place, there.add(job.applicationId));
    this.#known.set(job.applicationId, job);
    this.#isSorted = false;
  }

  #drop({ applicationId, folder }: KnownJob): void {
    this.#known.delete(applicationId);
    this.#ofPlace.get(path.dirname(folder))?.delete(applicationId);
    this.#isSorted = false;
  }

  #jobsAt(place: string): KnownJob[] {
    return [...(this.#ofPlace.get(place) ?? [])].flatMap((id) => this.#known.get(id) ?? []);
  }

  job(applicationId: string): KnownJob | undefined {
    return this.#known.get(applicationId);
  }

  /** Shows what was read before, the newest days first, until the history has been looked at, which waits for it. */
  async restore(): Promise<void> {
    this.#restoring ??= this.#restore().finally(() => {
      this.#restoring = undefined;
    });
    await this.#restoring;
  }

  async #restore(): Promise<void> {
    const { segments, finished } = this.#options;
    for (const tally of segments?.gone() ?? []) this.#addGone(tally);
    for (const { day, changedAtMs, jobs } of segments?.load() ?? []) {
      if (!day.startsWith(`${finished}/`)) continue;
      this.#days.set(day, changedAtMs);
      for (const job of jobs) if (path.dirname(job.folder) === day) this.#put(job);
      this.#restored = this.#known.size;
      // Whoever asks is answered in between.
      await setImmediate();
    }
    await this.#keeping(segments?.prepare());
  }

  /** A day with jobs that cannot be read is read again by each start: they are to be told. */
  async #keep({ path: day, modificationTimeMs: changedAtMs }: FileStatus): Promise<void> {
    const { segments } = this.#options;
    if (segments === undefined || [...this.#unreadable.keys()].some((folder) => path.dirname(folder) === day)) return;
    await this.#keeping(segments.save({ day, changedAtMs, jobs: this.#jobsAt(day) }));
  }

  /** @returns whether it was kept */
  async #keeping(saved: Promise<void> | undefined): Promise<boolean> {
    try {
      await saved;
      this.#keepTrouble = undefined;
      return true;
    } catch (error) {
      this.#keepTrouble = errorMessage(error);
      return false;
    }
  }

  /** Of a job's name and user, those that ended before it began and that the same people may see; the newest first. */
  earlierRuns(applicationId: string, limits: { readonly most: number; readonly mostBytes: number }): KnownJob[] {
    const row = this.#known.get(applicationId)?.row;
    if (row === undefined) return [];
    let bytes = 0;
    return [...this.#known.values()]
      .filter(({ row: { name, user, viewers, writtenBy, endedAtMs = Number.POSITIVE_INFINITY } }) => {
        const isSame = name === row.name && user === row.user && viewers === row.viewers;
        return isSame && writtenBy === "tony-ts" && endedAtMs <= row.startedAtMs;
      })
      .sort((a, b) => b.row.startedAtMs - a.row.startedAtMs)
      .slice(0, limits.most)
      .filter((job) => {
        bytes += job.bytes;
        return bytes <= limits.mostBytes;
      });
  }

  /** Looks for what is new or changed, once at a time. What is known stays where that fails. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined;
    });
    await this.#refreshing;
  }

  async #look(): Promise<void> {
    await this.#restoring;
    try {
      await this.#readFolders(await this.#jobsIn(this.#options.intermediate));
      for (const day of await this.#changedDays()) {
        await this.#readFolders(await this.#jobsIn(day.path));
        this.#days.set(day.path, day.modificationTimeMs);
        await this.#keep(day);
      }
      const yarn = await this.#askYarn();
      const { trouble: _trouble, yarnTrouble: _yarn, emptyPlaces: _places, ...scan } = this.#scan;
      const empty = this.#known.size === 0 ? { emptyPlaces: await this.#places() } : {};
      this.#scan = { ...scan, ...yarn, ...empty, isComplete: true, atMs: this.#options.nowMs() };
    } catch (error) {
      this.#scan = { ...this.#scan, trouble: errorMessage(error) };
    }
  }

  /** The folder of a job, also of one that was not scanned yet; undefined where there is none. */
  async folderOf(applicationId: string): Promise<string | undefined> {
    const { fileSystem, intermediate } = this.#options;
    const folders = [this.#known.get(applicationId)?.folder, path.join(intermediate, applicationId)];
    for (const folder of folders)
      if (folder !== undefined && (await ifThere(fileSystem.stat(folder))) !== undefined) return folder;
    // It has just been moved, or it was never seen.
    await this.refresh();
    return this.#known.get(applicationId)?.folder;
  }

  /** Nobody writes the end of a job that YARN killed, nor when one was submitted that runs: both are asked of each whose history has no end. */
  async #askYarn(): Promise<Pick<Scan, "yarnTrouble">> {
    const unfinished = [...this.#known].filter(([, { row }]) => isUnfinished(row.state));
    try {
      await withReaders(unfinished, async ([, known]) => {
        const said = await this.#saidOf(known);
        if (said !== undefined) this.#put({ ...known, ...said, row: { ...known.row, ...said.row } });
      });
      return {};
    } catch (error) {
      return { yarnTrouble: errorMessage(error) };
    }
  }

  /** Undefined where that is known. */
  async #saidOf(known: KnownJob): Promise<{ row: Partial<JobRow>; outcome?: JobOutcome } | undefined> {
    const { report: ask, nowMs } = this.#options;
    try {
      const report = await ask(known.applicationId);
      const submittedAtMs = report.startTimeMs;
      if (!hasEnded(report)) return known.row.submittedAtMs === submittedAtMs ? undefined : { row: { submittedAtMs } };
      const outcome = yarnOutcome(report, nowMs());
      const { result: state, endedAtMs, summary: cause } = outcome;
      const why = state === "succeeded" ? {} : { cause: short(cause) };
      return { row: { state, submittedAtMs, endedAtMs, ...why, ...(await this.#heldBy(known, report)) }, outcome };
    } catch (error) {
      if (errorCode(error) !== "APPLICATION_NOT_FOUND") throw error;
      return { row: { state: "unknown" } };
    }
  }

  /** Nobody wrote what it held, either. */
  async #heldBy({ folder, row }: KnownJob, report: ApplicationReport): Promise<Pick<JobRow, "usage"> | undefined> {
    const { fileSystem, roundings } = this.#options;
    // Meanwhile it may have been moved: then it is read, and asked of, again.
    const job = await readStoredJob(fileSystem, folder, "ends").catch(() => undefined);
    const usage = job?.spec && yarnUsage(report, job.spec, roundings, row.startedAtMs);
    return usage && { usage };
  }

  async #places(): Promise<string[]> {
    const { fileSystem, intermediate, finished } = this.#options;
    const words = async (folder: string) => {
      const isThere = (await ifThere(fileSystem.stat(folder))) !== undefined;
      return `${fileSystem.uri}${folder}${isThere ? "" : ", which does not exist"}`;
    };
    return await Promise.all([intermediate, finished].map(words));
  }

  /** Folders of jobs; those that are there no more are forgotten. */
  async #jobsIn(folder: string): Promise<FileStatus[]> {
    const entries = await listIfThere(this.#options.fileSystem, folder);
    const jobs = entries.filter(
      (entry) => entry.type === "DIRECTORY" && APPLICATION_ID.test(path.basename(entry.path)),
    );
    const there = new Set(jobs.map((entry) => entry.path));
    for (const known of this.#jobsAt(folder)) {
      if (there.has(known.folder)) continue;
      // From among those that run it was moved.
      if (folder === this.#options.intermediate) this.#drop(known);
      else this.forget(known.applicationId);
    }
    for (const at of this.#unreadable.keys()) {
      if (path.dirname(at) === folder && !there.has(at)) this.#unreadable.delete(at);
    }
    return jobs;
  }

  /** Days with jobs that are not known, the newest first; after the first round only those of the latest months may have any. */
  async #changedDays(): Promise<FileStatus[]> {
    const years = await this.#below({ path: this.#options.finished });
    const months = (await Promise.all(years.map((year) => this.#below(year)))).flat();
    const unseen = this.#scan.isComplete ? months.slice(0, -LATEST_MONTHS) : [];
    const days = (await Promise.all(months.slice(unseen.length).map((month) => this.#below(month)))).flat();
    await this.#forgetDays(new Set(days.map((day) => day.path)), new Set(unseen.map((month) => month.path)));
    return days.filter((day) => this.#days.get(day.path) !== day.modificationTimeMs).reverse();
  }

  /** Those that are there no more. @param unseen months that are there and were not looked at */
  async #forgetDays(there: ReadonlySet<string>, unseen: ReadonlySet<string>): Promise<void> {
    for (const day of [...this.#days.keys()]) {
      if (there.has(day) || unseen.has(path.dirname(day))) continue;
      for (const job of this.#jobsAt(day)) this.forget(job.applicationId);
      this.#days.delete(day);
      await this.#options.segments?.remove(day);
    }
  }

  async #below({ path: folder }: Pick<FileStatus, "path">): Promise<FileStatus[]> {
    const entries = await listIfThere(this.#options.fileSystem, folder);
    return entries.filter((entry) => /^\d+$/.test(path.basename(entry.path)));
  }

  async #readFolders(folders: readonly FileStatus[]): Promise<void> {
    const unread = folders.filter((folder) => !this.#isRead(folder)).reverse();
    this.#scan = { ...this.#scan, folders: this.#scan.folders + unread.length };
    await withReaders(unread, (folder) => this.#readFolder(folder));
  }

  #isRead({ path: folder, modificationTimeMs }: FileStatus): boolean {
    const known = this.#known.get(path.basename(folder));
    // What is added to a file shows in no time of its folder.
    if (known?.row.state === "waiting") return false;
    if (known?.folder === folder && known.changedAtMs === modificationTimeMs) return true;
    return this.#unreadable.get(folder)?.changedAtMs === modificationTimeMs;
  }

  async #readFolder({ path: folder, modificationTimeMs: changedAtMs }: FileStatus): Promise<void> {
    try {
      const applicationId = path.basename(folder);
      const job = await readStoredJob(this.#options.fileSystem, folder, "ends");
      const { submittedAtMs } = this.#known.get(applicationId)?.row ?? {};
      const row = { ...(submittedAtMs === undefined ? {} : { submittedAtMs }), ...rowOf(applicationId, job) };
      this.#put({ applicationId, folder, changedAtMs, bytes: job.bytes, row });
      this.#unreadable.delete(folder);
    } catch (error) {
      this.#unreadable.set(folder, { changedAtMs, why: errorMessage(error) });
    }
    this.#scan = { ...this.#scan, read: this.#scan.read + 1 };
  }
}

/** Some at a time. */
async function withReaders<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const read = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await act(next);
  };
  await Promise.all(Array.from({ length: READERS }, read));
}

function rowOf(applicationId: string, job: StoredJob): JobRow {
  const { status, user, viewers, writtenBy, spec } = job;
  const { name, queue, state, submittedAtMs, startedAtMs, outcome, roles, tasks, usage, nowMs } = status;
  const ofYarn = yarnState(state);
  const tags = (spec?.tags ?? []).slice(0, MOST_TAGS).map(short);
  const failed = tasks.find((task) => task.state === "failed");
  const cause = outcome === undefined ? failed && `${failed.task} failed` : outcome.cause?.summary;
  return {
    applicationId,
    name: short(name),
    user: short(user),
    // Cut off it could name somebody else.
    ...(viewers === undefined || viewers.length > MOST_TEXT ? {} : { viewers }),
    queue: short(queue),
    state: ofYarn === "running" && isWaiting(job) ? "waiting" : ofYarn,
    ...(submittedAtMs === undefined ? {} : { submittedAtMs }),
    startedAtMs,
    ...(ofYarn === "running" ? {} : { endedAtMs: outcome?.endedAtMs ?? nowMs }),
    tasks: roles.reduce((sum, { instances }) => sum + instances, 0),
    ...(tags.length === 0 ? {} : { tags }),
    ...(cause === undefined ? {} : { cause: short(cause) }),
    writtenBy,
    usage: readUsage(usage, "usage"),
  };
}

/** Nothing has happened since its programs were to begin, or to begin again. */
function isWaiting({ writtenBy, events }: StoredJob): boolean {
  const { type = "job-started" } = events.at(-1) ?? {};
  return writtenBy === "tony-ts" && (type === "job-started" || type === "generation-opened");
}

/** What is shown of a text. Copied: a piece of one keeps all of it in memory. */
export function short(text: string): string {
  return text.length <= MOST_TEXT ? text : Buffer.from(text.slice(0, MOST_TEXT)).toString();
}
