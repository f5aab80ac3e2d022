import { randomBytes } from "node:crypto";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { syncMarkerBytes } from "../../src/history/avro/schema.ts";
import { EndedJobs } from "../../src/history/ended-jobs.ts";
import { JobHistoryFolder } from "../../src/history/job-folder.ts";
import { finishedHistoryFile, historyFileInProgress, pageKeyFile, tonyHistoryFile } from "../../src/history/layout.ts";
import { earlierEvents, HISTORY_VERSION, type UnnumberedRecord } from "../../src/history/records.ts";
import { withoutSecrets } from "../../src/history/secrets.ts";
import { seriesFile } from "../../src/history/series/file.ts";
import { writeTonyEvents } from "../../src/history/tony/event-file.ts";
import { endedEvents, initedEvent, type TaskUse } from "../../src/history/tony/events.ts";
import { tonyFinalXml } from "../../src/history/tony/final-xml.ts";
import { HistoryWriter } from "../../src/history/writer.ts";
import type { HistoryEvent } from "../../src/job/history-event.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { SHOWN_EVENTS } from "../../src/page/live-answer.ts";
import { buildId } from "../../src/programs.ts";

/** What was measured of the job's tasks. */
interface Measured {
  readonly useOf: (task: string) => TaskUse | undefined;
  /** The file with everything over time. */
  readonly encodeSeries: (applicationId: string, attempt: number) => Promise<Uint8Array>;
}

type HistoryOfJob = Pick<JobFile, "applicationId" | "user" | "spec" | "stagingUrl">;

interface HistoryOptions {
  readonly fileSystems: Pick<FileSystems, "locate">;
  readonly attempt: number;
  readonly local: boolean;
  readonly atMs: number;
  readonly log: Log;
}

/** How much of earlier attempts' events is read again. */
const RECALLED_BYTES = 64 * 2 ** 10;

/**
 * The history of a job: its events and TonY's files under `tony.history.location` where that is set; with the local scheduler, its events in
 * the job's own folder; on a cluster also its last status, for its user. The constructor adds the attempt's first record.
 */
export class JobHistory {
  readonly #job: HistoryOfJob;
  readonly #options: HistoryOptions;
  readonly #folder: JobHistoryFolder | undefined;
  readonly #writer: HistoryWriter | undefined;
  #beginning: Promise<void> = Promise.resolve();
  readonly #lastEvents: HistoryEvent[] = [];

  constructor(job: HistoryOfJob, options: HistoryOptions) {
    this.#job = job;
    this.#options = options;
    const { applicationId, user, spec } = job;
    this.#folder = JobHistoryFolder.of(options.fileSystems, spec.history, applicationId);
    this.#writer = makeWriter(job, options, this.#folder);
    if (options.attempt > 1 && spec.am.page !== false) void this.#recall();
    this.add({
      record: "header",
      historyVersion: HISTORY_VERSION,
      atMs: options.atMs,
      applicationId,
      user,
      build: buildId(),
      spec: withoutSecrets(spec),
    });
  }

  add(record: UnnumberedRecord): void {
    this.#writer?.add(record);
    if (record.record !== "event") return;
    const { record: _kind, ...event } = record;
    this.#lastEvents.push(event);
    if (this.#lastEvents.length > SHOWN_EVENTS) this.#lastEvents.shift();
  }

  /** The last events that earlier attempts wrote, as far as they can be read: only the page wants them. */
  async #recall(): Promise<void> {
    const folder = this.#folder;
    if (folder === undefined) return;
    const file = path.posix.join(folder.path, historyFileInProgress);
    try {
      await folder.make(this.#job.user);
      const size = (await folder.fileSystem.stat(file)).lengthBytes;
      const offset = Math.max(0, size - RECALLED_BYTES);
      const read = await folder.fileSystem.open(file, { offset, lengthBytes: size - offset });
      const text = (await buffer(read)).toString("utf8");
      const lines = offset === 0 ? text : text.slice(text.indexOf("\n") + 1);
      const earlier = earlierEvents(lines, this.#options.attempt);
      const shown = [...earlier, ...this.#lastEvents].slice(-SHOWN_EVENTS);
      this.#lastEvents.splice(0, this.#lastEvents.length, ...shown);
    } catch (error) {
      this.#warn(error, "read");
    }
  }

  /** The last events, including those of earlier attempts, oldest first. */
  get lastEvents(): readonly HistoryEvent[] {
    return this.#lastEvents;
  }

  /** The job's settings, with the place where each was set (`tony-final.xml`); undefined where its client left none. */
  settings(): Promise<Buffer | undefined> {
    const { fileSystem, path: staging } = this.#options.fileSystems.locate(this.#job.stagingUrl);
    return ifThere(fileSystem.open(path.posix.join(staging, tonyFinalXml)).then((stream) => buffer(stream)));
  }

  /** Writes what TonY's readers see of a running job, and the key of its page. Only the first attempt has to. */
  begin(status: JobStatus, pageKey: string | undefined): void {
    const folder = this.#folder;
    if (folder === undefined) return;
    this.#beginning = this.#writeBeginning(folder, status, pageKey).catch((error: unknown) => this.#warn(error));
  }

  /** Adds the last record, gives the files their final names, and stores the status, which has the outcome. */
  async close(status: JobStatus, measured: Measured): Promise<void> {
    await Promise.all([this.#finish(status, measured), this.#storeStatus(status)]);
  }

  async #writeBeginning(folder: JobHistoryFolder, status: JobStatus, pageKey?: string): Promise<void> {
    await folder.make(this.#job.user);
    await folder.write(tonyHistoryFile(this.#named(status)), writeTonyEvents([initedEvent(status)], newSyncMarker()));
    if (pageKey !== undefined) await folder.write(pageKeyFile, Buffer.from(pageKey));
    const settings = await this.settings();
    if (settings !== undefined) await folder.write(tonyFinalXml, settings);
  }

  async #finish(status: JobStatus, { useOf, encodeSeries }: Measured): Promise<void> {
    const { outcome } = status;
    if (this.#writer === undefined || outcome === undefined) return;
    this.add({ record: "end", atMs: outcome.endedAtMs, outcome, status });
    await Promise.all([
      this.#writer.finish(finishedHistoryFile(this.#named(status), outcome)),
      this.#finishTony(status, outcome, useOf).catch((error: unknown) => this.#warn(error)),
      this.#writeSeries(encodeSeries).catch((error: unknown) => this.#warn(error)),
    ]);
    await this.#folder?.moveToFinished(outcome.endedAtMs).catch((error: unknown) => this.#warn(error));
  }

  async #finishTony(
    status: JobStatus,
    outcome: JobOutcome,
    useOf: (task: string) => TaskUse | undefined,
  ): Promise<void> {
    await this.#beginning;
    const folder = this.#folder;
    if (folder === undefined) return;
    await folder.make(this.#job.user);
    const events = endedEvents(status, outcome.endedAtMs, useOf);
    await folder.write(tonyHistoryFile(this.#named(status), outcome), writeTonyEvents(events, newSyncMarker()));
    await folder.removeUnfinished();
  }

  async #writeSeries(encodeSeries: Measured["encodeSeries"]): Promise<void> {
    await this.#writer?.writeBeside(seriesFile, await encodeSeries(this.#job.applicationId, this.#options.attempt));
  }

  async #storeStatus(status: JobStatus): Promise<void> {
    const { fileSystems, local } = this.#options;
    if (local) return;
    const { fileSystem, path: staging } = fileSystems.locate(this.#job.stagingUrl);
    await new EndedJobs({ fileSystem, path: path.posix.dirname(staging) }, this.#job.user).keep(status);
  }

  #named({ startedAtMs }: JobStatus) {
    const { applicationId, user } = this.#job;
    return { applicationId, startedAtMs, user };
  }

  #warn(error: unknown, what: "written" | "read" = "written"): void {
    this.#options.log.warn("history", `A file of the job's history cannot be ${what}: ${errorMessage(error)}`);
  }
}

function newSyncMarker(): Buffer {
  return randomBytes(syncMarkerBytes);
}

function makeWriter(
  job: HistoryOfJob,
  { fileSystems, attempt, local, log }: HistoryOptions,
  shared: JobHistoryFolder | undefined,
): HistoryWriter | undefined {
  if (shared === undefined && !local) return undefined;
  const warn = (message: string) => log.warn("history", message);
  if (shared !== undefined) {
    const { fileSystem, path: folder } = shared;
    return new HistoryWriter({ fileSystem, folder, makeFolder: () => shared.make(job.user), attempt, warn });
  }
  const { fileSystem, path: staging } = fileSystems.locate(job.stagingUrl);
  const folder = path.posix.join(staging, "history");
  return new HistoryWriter({ fileSystem, folder, makeFolder: () => fileSystem.mkdirs(folder, 0o750), attempt, warn });
}
