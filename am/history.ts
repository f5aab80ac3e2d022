import path from "node:path";
import type { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import { finishedHistoryFile, historyFolder } from "../src/history/layout.ts";
import { HistoryWriter } from "../src/history/writer.ts";
import type { JobFile } from "../src/job/job-file.ts";
import type { JobOutcome, JobStatus } from "../src/job/status.ts";
import type { Log } from "../src/log.ts";
import { buildId } from "../src/programs.ts";

/**
 * Opens the job's history: under `tony.history.location` where that is set; else in the staging folder, for the attempts that follow.
 * The first record of the attempt is in it.
 */
export function openHistory(
  job: JobFile,
  about: { readonly fileSystems: FileSystems; readonly attempt: number; readonly atMs: number; readonly log: Log },
): HistoryWriter {
  const { applicationId, user, spec, stagingUrl } = job;
  const { location } = spec.history;
  const { fileSystem, path: root } = about.fileSystems.locate(location ?? stagingUrl);
  const folder = location === undefined ? path.posix.join(root, "history") : historyFolder(root, applicationId);
  const writer = new HistoryWriter({
    fileSystem,
    folder,
    attempt: about.attempt,
    warn: (message) => about.log.warn("history", message),
  });
  writer.add({ record: "header", historyVersion: 1, atMs: about.atMs, applicationId, user, build: buildId(), spec });
  return writer;
}

/**
 * Adds the last record and gives the file the name of a finished job's. A history that goes with the staging folder in the next moment is
 * not written to its end: the client would wait for several operations of the NameNode.
 */
export async function closeHistory(
  writer: HistoryWriter,
  job: JobFile,
  { outcome, status, stagingStays }: { outcome: JobOutcome; status: JobStatus; stagingStays: boolean },
): Promise<void> {
  if (job.spec.history.location === undefined && !stagingStays) {
    await writer.abandon();
    return;
  }
  writer.add({ record: "end", atMs: outcome.endedAtMs, outcome, status });
  const { applicationId, user } = job;
  const { startedAtMs } = status;
  const { endedAtMs, result } = outcome;
  await writer.finish(finishedHistoryFile({ applicationId, startedAtMs, endedAtMs, user, result }));
}
