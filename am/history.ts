import path from "node:path";
import type { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { EndedJobs } from "../src/history/ended-jobs.ts";
import { finishedHistoryFile, historyFolder } from "../src/history/layout.ts";
import { HISTORY_VERSION, type UnnumberedRecord } from "../src/history/records.ts";
import { HistoryWriter } from "../src/history/writer.ts";
import type { JobFile } from "../src/job/job-file.ts";
import type { JobStatus } from "../src/job/status.ts";
import type { Log } from "../src/log.ts";
import { buildId } from "../src/programs.ts";

interface HistoryOptions {
  readonly fileSystems: FileSystems;
  readonly attempt: number;
  readonly local: boolean;
  readonly atMs: number;
  readonly log: Log;
}

/**
 * The history of a job: its events under `tony.history.location` where that is set, or in the job's own folder with the local scheduler;
 * and on a cluster its last status, for its user. The constructor adds the attempt's first record.
 */
export class JobHistory {
  readonly #job: JobFile;
  readonly #options: HistoryOptions;
  readonly #writer: HistoryWriter | undefined;

  constructor(job: JobFile, options: HistoryOptions) {
    this.#job = job;
    this.#options = options;
    this.#writer = makeWriter(job, options);
    const { applicationId, user, spec } = job;
    this.add({
      record: "header",
      historyVersion: HISTORY_VERSION,
      atMs: options.atMs,
      applicationId,
      user,
      build: buildId(),
      spec,
    });
  }

  add(record: UnnumberedRecord): void {
    this.#writer?.add(record);
  }

  /** Adds the last record, gives the file its final name, and stores the status, which holds the outcome. */
  async close(status: JobStatus): Promise<void> {
    await Promise.all([this.#finish(status), this.#storeStatus(status)]);
  }

  async #finish(status: JobStatus): Promise<void> {
    const { outcome, startedAtMs } = status;
    if (this.#writer === undefined || outcome === undefined) return;
    const { applicationId, user } = this.#job;
    const { endedAtMs, result } = outcome;
    this.add({ record: "end", atMs: endedAtMs, outcome, status });
    await this.#writer.finish(finishedHistoryFile({ applicationId, startedAtMs, endedAtMs, user, result }));
  }

  async #storeStatus(status: JobStatus): Promise<void> {
    const { fileSystems, local } = this.#options;
    if (local) return;
    const { fileSystem, path: staging } = fileSystems.locate(this.#job.stagingUrl);
    await new EndedJobs({ fileSystem, path: path.posix.dirname(staging) }, this.#job.user).keep(status);
  }
}

function makeWriter(job: JobFile, { fileSystems, attempt, local, log }: HistoryOptions): HistoryWriter | undefined {
  const { location } = job.spec.history;
  if (location === undefined && !local) return undefined;
  const { fileSystem, path: root } = fileSystems.locate(location ?? job.stagingUrl);
  const folder = location === undefined ? path.posix.join(root, "history") : historyFolder(root, job.applicationId);
  return new HistoryWriter({ fileSystem, folder, attempt, warn: (message) => log.warn("history", message) });
}
