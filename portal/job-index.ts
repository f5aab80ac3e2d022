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
  /** When its folder last got or lost an entry. */
  readonly changedAtMs: number;
  /** The size of its files. */
  readonly bytes: number;
  readonly row: JobRow;
  /** The end that YARN reports, where the job's history has none. */
  readonly outcome?: JobOutcome;
}

export interface JobIndexOptions {
  readonly fileSystem: FileSystem;
  /** The folder of running jobs, and the one of ended jobs. */
  readonly intermediate: string;
  readonly finished: string;
  /** The ResourceManager's report of an application. */
  readonly report: (applicationId: string) => Promise<ApplicationReport>;
  /** How the cluster rounds what jobs ask for. */
  readonly roundings: Roundings;
  readonly nowMs: () => number;
  /** What an earlier portal read; absent: nothing is kept. */
  readonly segments?: Pick<DaySegments, "gone" | "load" | "prepare" | "remove" | "save" | "saveGone">;
}

/** Each reader spends most of its time waiting for the NameNode or a DataNode. */
const READERS = 24;
const MOST_UNREADABLE = 100;
/** The longest name or cause: rows stay in memory, and a job can write anything into its history. */
const MOST_TEXT = 1_000;
const MOST_TAGS = 20;
const LATEST_MONTHS = 2;
const SORTED_FOR_MS = 1_000;
const APPLICATION_ID = /^application_\d+_\d+$/;

/** An in-memory index of the jobs of a history, read from their folders, and for its days from what an earlier portal kept. */
export class JobIndex {
  readonly #options: JobIndexOptions;
  readonly #known = new Map<string, KnownJob>();
  /** The jobs in a folder: that of a day, or that of running jobs. */
  readonly #ofPlace = new Map<string, Set<string>>();
  readonly #gone = new Map<string, Tally>();
  #isGoneKept = true;
  /** When a day's folder last changed, by its path. */
  readonly #days = new Map<string, number>();
  readonly #unreadable = new Map<string, { readonly changedAtMs: number; readonly why: string }>();
  #rows: readonly JobRow[] = [];
  #isSorted = true;
  #sortedAtMs = Number.NEGATIVE_INFINITY;
  #restoring: Promise<void> | undefined;
  #refreshing: Promise<void> | undefined;
  /** How many jobs were restored from what an earlier portal had read. */
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

  /** The newest first. While jobs are being read, the rows are sorted at most once a second: with a hundred thousand jobs that takes a while. */
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

  /** Totals of jobs whose history has been removed, including by earlier portals as far as they were kept: they prevent counters from going back. */
  get gone(): readonly Tally[] {
    return [...this.#gone.values()];
  }

  /** Forgets a job whose history was removed, except in the totals. */
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

  /** Stores the totals of removed jobs for the next start. */
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

  /** Shows the jobs that an earlier portal had read, the newest days first, until the history has been scanned; the scan waits for this. */
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
      // Requests are served in between.
      await setImmediate();
    }
    await this.#keeping(segments?.prepare());
  }

  /** Stores a day for the next start. A day with unreadable jobs is not stored, so that each start reads it again and reports them. */
  async #keep({ path: day, modificationTimeMs: changedAtMs }: FileStatus): Promise<void> {
    const { segments } = this.#options;
    if (segments === undefined || [...this.#unreadable.keys()].some((folder) => path.dirname(folder) === day)) return;
    await this.#keeping(segments.save({ day, changedAtMs, jobs: this.#jobsAt(day) }));
  }

  /** @returns whether it was stored */
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

  /** The runs with a job's name and user that ended before it began and that the same people may see; the newest first. */
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

  /** Scans for what is new or changed, one scan at a time. If that fails, what is known stays. */
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

  /** The folder of a job, even if it has not been scanned yet; undefined where there is none. */
  async folderOf(applicationId: string): Promise<string | undefined> {
    const { fileSystem, intermediate } = this.#options;
    const folders = [this.#known.get(applicationId)?.folder, path.join(intermediate, applicationId)];
    for (const folder of folders)
      if (folder !== undefined && (await ifThere(fileSystem.stat(folder))) !== undefined) return folder;
    // The job has just been moved, or was never seen.
    await this.refresh();
    return this.#known.get(applicationId)?.folder;
  }

  /** Asks YARN about each job whose history has no end: nobody writes the end of a job that YARN killed, nor the submission time of a running job. */
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

  /** Undefined where nothing is new. */
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

  /** What the job held, which nobody wrote either. */
  async #heldBy({ folder, row }: KnownJob, report: ApplicationReport): Promise<Pick<JobRow, "usage"> | undefined> {
    const { fileSystem, roundings } = this.#options;
    // The job may have been moved meanwhile: then it is read, and YARN is asked, again.
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

  /** The folders of jobs; forgets jobs whose folders are gone. */
  async #jobsIn(folder: string): Promise<FileStatus[]> {
    const entries = await listIfThere(this.#options.fileSystem, folder);
    const jobs = entries.filter(
      (entry) => entry.type === "DIRECTORY" && APPLICATION_ID.test(path.basename(entry.path)),
    );
    const there = new Set(jobs.map((entry) => entry.path));
    for (const known of this.#jobsAt(folder)) {
      if (there.has(known.folder)) continue;
      // It was moved out of the folder of running jobs.
      if (folder === this.#options.intermediate) this.#drop(known);
      else this.forget(known.applicationId);
    }
    for (const at of this.#unreadable.keys()) {
      if (path.dirname(at) === folder && !there.has(at)) this.#unreadable.delete(at);
    }
    return jobs;
  }

  /** Days with unknown jobs, the newest first; after the first scan only the latest months can have any. */
  async #changedDays(): Promise<FileStatus[]> {
    const years = await this.#below({ path: this.#options.finished });
    const months = (await Promise.all(years.map((year) => this.#below(year)))).flat();
    const unseen = this.#scan.isComplete ? months.slice(0, -LATEST_MONTHS) : [];
    const days = (await Promise.all(months.slice(unseen.length).map((month) => this.#below(month)))).flat();
    await this.#forgetDays(new Set(days.map((day) => day.path)), new Set(unseen.map((month) => month.path)));
    return days.filter((day) => this.#days.get(day.path) !== day.modificationTimeMs).reverse();
  }

  /** Forgets days that are gone. @param unseen months that exist and were not examined */
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
    // Appending to a file does not change the time of its folder.
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

/** Acts on a limited number of items at a time. */
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
    // A truncated list could name somebody else.
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

/** Whether nothing has happened since the programs were to begin, or to begin again. */
function isWaiting({ writtenBy, events }: StoredJob): boolean {
  const { type = "job-started" } = events.at(-1) ?? {};
  return writtenBy === "tony-ts" && (type === "job-started" || type === "generation-opened");
}

/** The part of a text that is shown. Copied, because a slice would keep the whole text in memory. */
export function short(text: string): string {
  return text.length <= MOST_TEXT ? text : Buffer.from(text.slice(0, MOST_TEXT)).toString();
}
