import { shownAdvice } from "../src/advice/advise.ts";
import type { Run } from "../src/advice/run.ts";
import { TonyError } from "../src/errors.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import type { ApplicationReport } from "../src/hadoop/yarn/records.ts";
import type { JobSeries } from "../src/history/series/file.ts";
import type { TaskSeries } from "../src/history/series/table.ts";
import type { Roundings } from "../src/job/amounts.ts";
import type { Prices } from "../src/job/cost.ts";
import { hasEnded } from "../src/job/outcome.ts";
import { type SettingsAnswer, settingsAnswer } from "../src/page/answers.ts";
import { liveAnswer, type PageFacts, yarnState } from "../src/page/live-answer.ts";
import type { LiveRequest } from "../src/page/live-request.ts";
import type { Comparison, JobRow, ShownAdvice } from "../src/page/portal-answers.ts";
import { type Access, refusalOf, type Viewer } from "./access.ts";
import { compare, type WholeJob } from "./compare.ts";
import type { JobIndex, KnownJob } from "./job-index.ts";
import type { JobLogs, LogAnswer, LogQuery } from "./job-logs.ts";
import type { OwnPage, RunningJobs } from "./running-job.ts";
import { readRunningMetrics, runningMetrics } from "./running-metrics.ts";
import { readSettingsFile, readStoredJob, readStoredSeries, readStoredSettings, type StoredJob } from "./stored-job.ts";
import { isUnfinished } from "./tally.ts";

interface OpenJob {
  readonly folder: string;
  /** The job's owner before it was read. */
  readonly owner: string;
  readonly atMs: number;
  readonly job: StoredJob;
  readonly series: JobSeries | undefined;
  /** For a job that has ended. */
  readonly advice?: ShownAdvice;
  /** For a running job. */
  readonly ownPage?: OwnPage;
}

type Whose = Pick<JobRow, "user" | "applicationId">;

export interface JobPagesOptions {
  readonly fileSystem: FileSystem;
  readonly access: Pick<Access, "maySee">;
  readonly index: Pick<JobIndex, "earlierRuns" | "folderOf" | "job">;
  /** The ResourceManager's report of an application. */
  readonly report: (applicationId: string) => Promise<ApplicationReport>;
  readonly logs: Pick<JobLogs, "read">;
  readonly running: Pick<RunningJobs, "ask" | "pageOf">;
  /** How the cluster rounds what jobs ask for. */
  readonly roundings: Roundings;
  /** Advice to ask for less uses them to say what it saves. */
  readonly prices: Prices;
  readonly nowMs: () => number;
}

/** Jobs that are requested repeatedly are not read each time. One may take hundreds of megabytes. */
const MOST_OPEN = 4;
const FRESH_MS = 10_000;
/** How many earlier runs advice uses in addition to the job's own. */
const MOST_EARLIER = 4;
const MOST_EARLIER_BYTES = 8 * 2 ** 20;

/** The content of the pages of single jobs. */
export class JobPages {
  readonly #options: JobPagesOptions;
  readonly #open = new Map<string, OpenJob>();

  constructor(options: JobPagesOptions) {
    this.#options = options;
  }

  /**
   * The answer of the job's own ApplicationMaster while it runs and serves its page; otherwise the same made from its history.
   * @param query as it was requested
   * @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`)
   */
  async live(applicationId: string, request: LiveRequest, viewer: Viewer, query: string): Promise<object> {
    const { job, series, advice, ownPage } = await this.#shown(applicationId, viewer);
    if (ownPage !== undefined) {
      try {
        return await this.#options.running.ask(applicationId, ownPage, `api/v1/live?${query}`);
      } catch (error) {
        const known = liveAnswer(job.status, factsOf(job, series), { ...request, since: 0 }, true);
        return { ...known, running: { url: ownPage.url, trouble: errorMessage(error) } };
      }
    }
    const isOver = job.status.outcome !== undefined || job.status.state !== "running";
    const logs = isOver ? ({ logs: "stored" } as const) : {};
    const more = { ...logs, ...(advice === undefined ? {} : { advice }) };
    const answer = liveAnswer(job.status, { ...factsOf(job, series), ...more }, request, true);
    return isOver ? { ...answer, isFinal: true } : answer;
  }

  /** Its settings, and where each was set (`tony-final.xml`). @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`) */
  async settings(applicationId: string, viewer: Viewer): Promise<SettingsAnswer> {
    const { folder } = await this.#shown(applicationId, viewer);
    return settingsAnswer(await readSettingsFile(this.#options.fileSystem, folder));
  }

  /** Everything in its history. @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`) */
  async whole(applicationId: string, viewer: Viewer): Promise<object> {
    const { job, folder } = await this.#shown(applicationId, viewer);
    const { spec: _spec, ...told } = job;
    return { folder, ...told };
  }

  /** Two jobs side by side, for viewers who may see both. @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`) */
  async compare(ids: readonly [string, string], viewer: Viewer): Promise<Comparison> {
    // One after the other: reading one may take hundreds of megabytes.
    const a = await this.#shown(ids[0], viewer);
    const b = await this.#shown(ids[1], viewer);
    return compare(await this.#withSettings(a), await this.#withSettings(b));
  }

  async #withSettings({ job, series, folder }: OpenJob): Promise<WholeJob> {
    const settings = await readStoredSettings(this.#options.fileSystem, folder).catch(() => undefined);
    return { job, series, settings };
  }

  /**
   * The last output of a task of an ended job.
   * @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`, and as JobLogs)
   */
  async logs(applicationId: string, query: LogQuery, viewer: Viewer, gone: AbortSignal): Promise<LogAnswer> {
    const { fileSystem, logs } = this.#options;
    const { job, folder, owner } = await this.#shown(applicationId, viewer);
    // The writer named in a history is only its own claim. The logs belong to the owner that HDFS names: otherwise somebody could
    // make the portal read other users' logs by giving away a folder that was theirs when it was read, or the other way round.
    const { owner: present } = await fileSystem.stat(folder);
    const other = [owner, present].find((one) => one !== job.user);
    if (other !== undefined)
      throw new TonyError(
        `${applicationId} says that it is ${job.user}'s, but its history is ${other}'s: no logs are read`,
        {
          code: "NOT_ALLOWED",
        },
      );
    return await logs.read(job.user, job.status, query, gone);
  }

  /**
   * The answer of a running job's ApplicationMaster: new lines of its logs, or what advice on it is based on.
   * @param what below `api/v1/`, with its query
   * @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`, `NO_ANSWER`)
   */
  async ask(applicationId: string, what: string, viewer: Viewer): Promise<object> {
    const { ownPage } = await this.#shown(applicationId, viewer);
    if (ownPage === undefined) throw new TonyError("it does not run, as far as YARN says", { code: "NO_ANSWER" });
    return await this.#options.running.ask(applicationId, ownPage, `api/v1/${what}`);
  }

  /**
   * The metrics of a running job for Prometheus, from its ApplicationMaster's answer; empty for a job that has ended, which Prometheus may
   * not know yet.
   * @param ofTasks also for each task
   * @throws TonyError (`NO_SUCH_JOB`, `NOT_ALLOWED`)
   */
  async metrics(applicationId: string, viewer: Viewer, ofTasks: boolean): Promise<string> {
    const { access, index, running } = this.#options;
    const job = index.job(applicationId);
    if (job === undefined) throw noSuchJob(applicationId);
    if (!access.maySee(viewer, job.row)) throw notAllowed(viewer, applicationId, job.row);
    const report = isUnfinished(job.row.state) ? await this.#reportOf(job.row) : "ended";
    if (report === "ended" || (report && hasEnded(report))) return `# ${applicationId} has ended\n`;
    const ownPage = report && (await running.pageOf(report, job.folder).catch(() => undefined));
    const what = `api/v1/metrics${ofTasks ? "?tasks=all" : ""}`;
    const said =
      ownPage &&
      (await running
        .ask(applicationId, ownPage, what)
        .then(readGauges)
        .catch(() => undefined));
    return runningMetrics(job.row, said);
  }

  /**
   * Advice from this run and the job's earlier runs, as `tony-ts advise NAME` gives it; not for TonY's jobs, which record no outcome: too
   * little is known of them.
   */
  async #adviceOn(job: StoredJob, series: JobSeries | undefined, owner: string): Promise<Pick<OpenJob, "advice">> {
    if (job.status.outcome === undefined) return {};
    const { roundings, prices } = this.#options;
    const runs = [runOf(job, series), ...(await this.#earlierRuns(job, owner))];
    return { advice: shownAdvice(runs, roundings, prices) };
  }

  /** Earlier runs that anybody who may see the job may see, and that the same user has written. */
  async #earlierRuns({ status: { applicationId } }: StoredJob, owner: string): Promise<Run[]> {
    const { fileSystem, index } = this.#options;
    const runs: Run[] = [];
    for (const earlier of index.earlierRuns(applicationId, { most: MOST_EARLIER, mostBytes: MOST_EARLIER_BYTES })) {
      try {
        if ((await fileSystem.stat(earlier.folder)).owner !== owner) continue;
        const job = await readStoredJob(fileSystem, earlier.folder, "ends");
        runs.push(runOf(job, await readStoredSeries(fileSystem, earlier.folder)));
      } catch {
        // The run was removed meanwhile, or cannot be read: the list says so.
      }
    }
    return runs;
  }

  /** The report of a job that may run; undefined also where YARN does not answer, or reports another user's job. */
  async #reportOf({ user, applicationId }: Whose): Promise<ApplicationReport | undefined> {
    const report = await this.#options.report(applicationId).catch(() => undefined);
    return report?.user === user ? report : undefined;
  }

  async #shown(applicationId: string, viewer: Viewer): Promise<OpenJob> {
    const opened = await this.#opened(applicationId);
    if (this.#options.access.maySee(viewer, opened.job)) return opened;
    throw notAllowed(viewer, applicationId, opened.job);
  }

  async #opened(applicationId: string): Promise<OpenJob> {
    const { fileSystem, index, nowMs } = this.#options;
    const known = this.#open.get(applicationId);
    if (known !== undefined && nowMs() - known.atMs < FRESH_MS) return known;
    const folder = await index.folderOf(applicationId);
    if (folder === undefined) throw noSuchJob(applicationId);
    const { owner } = await fileSystem.stat(folder);
    const [stored, series] = await Promise.all([
      readStoredJob(fileSystem, folder, "all"),
      readStoredSeries(fileSystem, folder).catch(() => undefined),
    ]);
    const job = withEnd(stored, index.job(applicationId));
    const isRunning = yarnState(job.status.state) === "running";
    const report = isRunning ? await this.#reportOf({ user: job.user, applicationId }) : undefined;
    const ownPage = report && (await this.#options.running.pageOf(report, folder));
    const advice = await this.#adviceOn(job, series, owner);
    const more = { ...advice, ...(ownPage === undefined ? {} : { ownPage }) };
    const opened = { folder, owner, atMs: nowMs(), job, series, ...more };
    this.#open.delete(applicationId);
    this.#open.set(applicationId, opened);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MOST_OPEN && oldest !== undefined) this.#open.delete(oldest);
    return opened;
  }
}

/** @throws ShapeError */
function readGauges(answer: object) {
  return readRunningMetrics(answer, "");
}

function noSuchJob(applicationId: string): TonyError {
  return new TonyError(`The history has no job ${applicationId}`, { code: "NO_SUCH_JOB" });
}

function notAllowed(viewer: Viewer, applicationId: string, job: Parameters<typeof refusalOf>[2]): TonyError {
  return new TonyError(refusalOf(viewer, applicationId, job), { code: "NOT_ALLOWED" });
}

function runOf({ status }: StoredJob, series: JobSeries | undefined): Run {
  return {
    status,
    submittedAtMs: status.submittedAtMs ?? status.startedAtMs,
    ...(series === undefined ? {} : { series }),
  };
}

/** For a job whose history has no end: with the submission, the end and the use that YARN reports. */
function withEnd(job: StoredJob, known: KnownJob | undefined): StoredJob {
  if (known?.outcome === undefined || job.status.outcome !== undefined) return job;
  const { outcome, row } = known;
  const { submittedAtMs, usage } = row;
  const submitted = submittedAtMs === undefined ? {} : { submittedAtMs };
  const end = { state: outcome.result, nowMs: outcome.endedAtMs, outcome, usage };
  return { ...job, status: { ...job.status, ...submitted, ...end } };
}

function factsOf({ user, events }: StoredJob, series: JobSeries | undefined): PageFacts {
  const rows = new Map((series?.rows ?? []).map((row) => [row.task, row.series]));
  const { fromMs, spanMs } = series?.axis ?? { fromMs: 0, spanMs: 1 };
  return {
    user,
    events,
    rateOf: (task) => averageRate(rows.get(task), spanMs),
    seriesOf: (task) => ({ fromMs, spanMs, series: rows.get(task) ?? [] }),
  };
}

/** Steps per second, over all values. */
function averageRate(series: readonly TaskSeries[] = [], spanMs: number): number | undefined {
  const values = series.find(({ name }) => name === "step")?.values ?? [];
  const heard = values.flatMap((value, index) => (value === null ? [] : [{ value, index }]));
  const [first, last] = [heard[0], heard.at(-1)];
  if (first === undefined || last === undefined || last.index === first.index) return undefined;
  return ((last.value - first.value) / ((last.index - first.index) * spanMs)) * 1000;
}
