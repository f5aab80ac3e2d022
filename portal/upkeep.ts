import path from "node:path/posix";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import type { JobHistoryFolder } from "../src/history/job-folder.ts";
import { historyFileInProgress, pageKeyFile, parseHistoryFileName } from "../src/history/layout.ts";
import { seriesFile } from "../src/history/series/file.ts";
import { tonyFinalXml } from "../src/history/tony/final-xml.ts";
import { countWords, durationWords } from "../src/job/reasons/words.ts";
import type { Retention, UpkeepSettings } from "../src/portal-settings.ts";
import { USER } from "./access.ts";
import type { JobIndex, KnownJob } from "./job-index.ts";
import { isUnfinished } from "./tally.ts";

export interface UpkeepOptions {
  readonly fileSystem: Pick<FileSystem, "list" | "delete">;
  readonly index: Pick<JobIndex, "known" | "forget" | "scan">;
  readonly intermediate: string;
  readonly folderOf: (applicationId: string) => Pick<JobHistoryFolder, "closeAbandoned" | "moveToFinished">;
  readonly settings: UpkeepSettings;
  readonly nowMs: () => number;
  /** Called with a line for each thing done. */
  readonly say: (line: string) => void;
}

/** What it has done since its start. */
export interface UpkeepCounts {
  readonly moved: number;
  readonly removed: number;
  readonly removedBytes: number;
  /** Jobs that the last round should have moved or removed but could not. */
  readonly refused: number;
}

/** A job whose history is to be removed, and why. */
export interface Overdue {
  readonly job: KnownJob;
  readonly why: string;
}

/** Per round: a move takes at most six calls to the NameNode, a removal five. */
const MOST_MOVED = 50;
const MOST_REMOVED = 100;
/** A job that has ended moves its own history: it gets this long. */
const QUIET_MS = 5 * 60_000;
/** The folder of a younger day may still get jobs, whatever the time zone. */
const FILLED_MS = 2 * 24 * 3_600_000;

/**
 * Moves ended jobs to the finished ones and removes old ones, as TonY's history server does (HistoryFileMover, HistoryFilePurger). Removes
 * only folders that contain nothing but the files of a job's history; of a link it removes the link, not its target.
 */
export class Upkeep {
  readonly #options: UpkeepOptions;
  /** Folders that could not be moved or removed, with the time of their last change: retried when that changes, or after the purger's interval. */
  readonly #refused = new Map<string, number>();
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #movedAtMs = Number.NEGATIVE_INFINITY;
  #removedAtMs = Number.NEGATIVE_INFINITY;
  #counts: UpkeepCounts = { moved: 0, removed: 0, removedBytes: 0, refused: 0 };

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  get counts(): UpkeepCounts {
    return this.#counts;
  }

  /** Does what is due; what exceeds the limits is left for the next round. */
  async round(): Promise<void> {
    const { index, settings, nowMs } = this.#options;
    if (!index.scan.isComplete || index.scan.trouble !== undefined) return;
    const atMs = nowMs();
    if (atMs - this.#triedAtMs >= settings.purgerIntervalMs) {
      this.#triedAtMs = atMs;
      this.#refused.clear();
    }
    if (atMs - this.#movedAtMs >= settings.moverIntervalMs) {
      const jobs = this.#untried(
        toMove(index.known, this.#options.intermediate, atMs).map((job) => ({ job, why: "" })),
      );
      if (jobs.length <= MOST_MOVED) this.#movedAtMs = atMs;
      await this.#each(jobs.slice(0, MOST_MOVED), "moved", ({ job }) => this.#move(job));
    }
    if (atMs - this.#removedAtMs < settings.purgerIntervalMs) return;
    const jobs = this.#untried(overdue(index.known, settings, atMs));
    if (jobs.length <= MOST_REMOVED) this.#removedAtMs = atMs;
    await this.#each(jobs.slice(0, MOST_REMOVED), "removed", ({ job }) => this.#remove(job));
    await this.#removeEmptyDays(jobs);
  }

  /** Prints what rounds would do, and does nothing. */
  async rehearse(): Promise<void> {
    const { index, intermediate, settings, nowMs, say } = this.#options;
    const moves = toMove(index.known, intermediate, nowMs());
    for (const job of moves) say(`would move ${wordsOf(job)}`);
    let count = 0;
    for (const { job, why } of overdue(index.known, settings, nowMs())) {
      const strange = await this.#strange(job);
      if (strange === undefined) count += 1;
      say(strange === undefined ? `would remove ${wordsOf(job)}: ${why}` : `would leave ${job.folder}: ${strange}`);
    }
    say(`${moves.length} to move, ${count} to remove, of ${index.known.length}; nothing was done`);
  }

  #untried(jobs: readonly Overdue[]): Overdue[] {
    return jobs.filter(({ job }) => this.#refused.get(job.folder) !== job.changedAtMs);
  }

  /** @param act returns why it failed; undefined: it succeeded */
  async #each(
    jobs: readonly Overdue[],
    done: "moved" | "removed",
    act: (overdue: Overdue) => Promise<string | undefined>,
  ): Promise<void> {
    const refusals: string[] = [];
    for (const one of jobs) {
      const { job, why } = one;
      const refusal = await act(one).catch(errorMessage);
      if (refusal === undefined) {
        const { moved, removed, removedBytes } = this.#counts;
        this.#counts =
          done === "moved"
            ? { ...this.#counts, moved: moved + 1 }
            : { ...this.#counts, removed: removed + 1, removedBytes: removedBytes + job.bytes };
        this.#options.say(`${done} ${wordsOf(job)}${why === "" ? "" : `: ${why}`}`);
      } else {
        this.#refused.set(job.folder, job.changedAtMs);
        refusals.push(`${job.folder} is not ${done}: ${refusal}`);
      }
    }
    this.#counts = { ...this.#counts, refused: this.#refused.size };
    const [first, ...others] = refusals;
    if (first !== undefined)
      this.#options.say(
        `${first}${others.length === 0 ? "" : `; ${countWords(others.length, "other")} not ${done} either`}`,
      );
  }

  async #move({ applicationId, outcome, row }: KnownJob): Promise<string | undefined> {
    const folder = this.#options.folderOf(applicationId);
    const { endedAtMs = 0, startedAtMs, user } = row;
    // The name would become part of a file's name.
    if (outcome !== undefined && !USER.test(user)) return `${JSON.stringify(user)} is not a valid user name`;
    const isMoved =
      outcome === undefined
        ? await folder.moveToFinished(endedAtMs)
        : await folder.closeAbandoned({ applicationId, startedAtMs, user }, outcome);
    return isMoved ? undefined : "the portal's user may not write there, or it is there already";
  }

  async #remove(job: KnownJob): Promise<string | undefined> {
    const { fileSystem, index } = this.#options;
    const strange = await this.#strange(job);
    if (strange !== undefined) return strange;
    await fileSystem.delete(job.folder, { recursive: true });
    index.forget(job.applicationId);
    return undefined;
  }

  /** Why the folder is not removed. */
  async #strange({ folder, applicationId, row }: KnownJob): Promise<string | undefined> {
    const entries = await this.#options.fileSystem.list(folder);
    const isHistory = (name: string) =>
      name === historyFileInProgress || parseHistoryFileName(name)?.applicationId === applicationId;
    const names = entries.map((entry) => path.basename(entry.path));
    const other = entries.findIndex(
      ({ type }, at) => type !== "FILE" || !(isHistory(names[at] ?? "") || besides.includes(names[at] ?? "")),
    );
    if (other >= 0) return `it holds ${JSON.stringify(names[other])}, which is not a file of its history`;
    if (!names.some(isHistory)) return "it holds no history";
    const newestMs = Math.max(...entries.map(({ modificationTimeMs }) => modificationTimeMs));
    const { settings, nowMs } = this.#options;
    const isWritten = row.state === "unknown" && nowMs() - newestMs < keepMsOf(row.state, settings);
    return isWritten ? "something was written to it not long ago" : undefined;
  }

  /** Removes the folders of days without jobs, and then of their months and years. */
  async #removeEmptyDays(jobs: readonly Overdue[]): Promise<void> {
    const { fileSystem, index, intermediate, nowMs } = this.#options;
    const gone = jobs.filter(({ job }) => nowMs() - endOf(job) > FILLED_MS).map(({ job }) => path.dirname(job.folder));
    const left = new Set(index.known.map(({ folder }) => path.dirname(folder)));
    for (const day of new Set(gone)) {
      if (day === intermediate || left.has(day)) continue;
      // A folder that is not empty is not removed; nor are those above it.
      for (const folder of [day, path.dirname(day), path.dirname(path.dirname(day))])
        if (!(await fileSystem.delete(folder).catch(() => false))) break;
    }
  }
}

/** Files next to a history. TonY's settings had the other name before. */
const besides: readonly string[] = [seriesFile, tonyFinalXml, pageKeyFile, "config.xml"];

/** Jobs that have ended and are still among the running ones; the oldest first. */
export function toMove(jobs: readonly KnownJob[], intermediate: string, nowMs: number): KnownJob[] {
  const quiet = ({ row, changedAtMs }: KnownJob) =>
    row.endedAtMs !== undefined && nowMs - Math.max(row.endedAtMs, changedAtMs) >= QUIET_MS;
  return byEnd(jobs.filter((job) => path.dirname(job.folder) === intermediate && quiet(job)));
}

/** Jobs that are too old; then, where they are too many or too large, the oldest that succeeded, and then the oldest others. */
export function overdue(jobs: readonly KnownJob[], retention: Retention, nowMs: number): Overdue[] {
  const ended = byEnd(jobs.filter(({ row }) => !isUnfinished(row.state)));
  const found: Overdue[] = [];
  const rest: KnownJob[] = [];
  for (const job of ended) {
    const keepMs = keepMsOf(job.row.state, retention);
    if (nowMs - endOf(job) > keepMs) found.push({ job, why: `it is older than ${durationWords(keepMs)}` });
    else if (job.row.state !== "unknown") rest.push(job);
  }
  const { maxJobs = Number.POSITIVE_INFINITY, maxMiB = Number.POSITIVE_INFINITY } = retention;
  let count = jobs.length - found.length;
  let bytes = sizeOf(jobs) - sizeOf(found.map(({ job }) => job));
  const succeeded = rest.filter(({ row }) => row.state === "succeeded");
  for (const job of [...succeeded, ...rest.filter(({ row }) => row.state !== "succeeded")]) {
    if (count <= maxJobs && bytes <= maxMiB * MIB) break;
    found.push({
      job,
      why: count > maxJobs ? `there are more than ${maxJobs} jobs` : `all have more than ${maxMiB} MiB`,
    });
    count -= 1;
    bytes -= job.bytes;
  }
  return found;
}

const MIB = 1024 ** 2;

function keepMsOf(state: KnownJob["row"]["state"], { keepMs, keepFailedMs }: Retention): number {
  return state === "succeeded" ? keepMs : Math.max(keepMs, keepFailedMs);
}

/** When a job ended by its own account, but never later than its folder's last change by the NameNode's clock. */
function endOf({ row, changedAtMs }: KnownJob): number {
  return Math.min(row.endedAtMs ?? changedAtMs, changedAtMs);
}

function byEnd(jobs: readonly KnownJob[]): KnownJob[] {
  return jobs.toSorted((a, b) => endOf(a) - endOf(b));
}

function sizeOf(jobs: readonly KnownJob[]): number {
  return jobs.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** `/h/finished/2026/10/30/application_1_0001, succeeded, ended 2026-10-30` */
function wordsOf(job: KnownJob): string {
  const day = new Date(endOf(job)).toISOString().slice(0, 10);
  return `${job.folder}, ${job.row.state}, ended ${day}, ${job.bytes} bytes`;
}
