import path from "node:path";
import { ExitCode, usageError } from "../../src/errors.ts";
import { countWords, sizeWords } from "../../src/job/reasons/words.ts";
import { isOfTrial, shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { type Applications, hasEnded, NOT_KEPT } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { type Inspection, inspect } from "../master/inspection.ts";
import { connectMaster } from "../master/master-connection.ts";
import { formatTable } from "../output/format.ts";
import type { GetJson } from "../printed-json.ts";
import { checkTargets, fetchFiles } from "./fetch-files.ts";
import { historyOf } from "./job-history.ts";
import { checkpointAt, lastCheckpointOf } from "./last-checkpoint.ts";
import { latestStored } from "./latest-stored.ts";
import type { HomePlaces, LeftFile, LeftFiles, LeftTree } from "./left-files.ts";
import { nothingLeft } from "./nothing-left.ts";
import { resultsOf } from "./task-results.ts";

export interface GetOptions {
  readonly application: string;
  readonly what: GetJson["what"];
  readonly task: string | undefined;
  readonly to: string | undefined;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly conf: readonly string[] | undefined;
  readonly json: boolean;
}

const tellEachMs = 2_000;

/**
 * Fetches the files that a job left and says so.
 * @returns `cluster` where some of them are missing
 * @throws UserError where there are none, or they must not be written
 */
export async function getFiles(
  options: GetOptions,
  applications: Applications,
  context: ClientContext,
): Promise<ExitCode> {
  const { application, what, json, force, dryRun, task } = options;
  const inspection = await inspect(application, applications, connectMaster);
  const left = await leftFiles(options, inspection, applications, context);
  for (const remark of left.remarks) context.output.problem(remark);
  if (left.files.length === 0) throw nothingLeft(`${application} left no files to fetch`);
  const shown = options.to ?? ownFolder(application, what, task);
  const folder = path.resolve(context.workingDirectory, shown);
  checkTargets(left, { folder, force });
  if (!dryRun) await fetchShown(left, folder, context);
  if (json) context.output.json(getJson(options, folder, left));
  else context.output.print(listLines(left, shown, dryRun).join("\n"));
  if (left.isIncomplete !== true) return ExitCode.succeeded;
  context.output.problem(`Some of the ${what} are missing: exit code ${ExitCode.cluster}`);
  return ExitCode.cluster;
}

async function leftFiles(
  { application: applicationId, what, task, conf }: GetOptions,
  { report, status, remark }: Inspection,
  applications: Applications,
  context: ClientContext,
): Promise<LeftFiles> {
  const places: HomePlaces = await applications.fileSystems();
  if (what === "history") {
    const endedAtMs = status?.outcome?.endedAtMs ?? (hasEnded(report) ? report.finishTimeMs : undefined);
    return await historyOf({ applicationId, endedAtMs }, conf ?? [], applications, context);
  }
  if (status === undefined && what === "checkpoint" && report.user === applications.user && hasEnded(report)) {
    const folder = await applications.checkpointDir(applicationId);
    const stored = folder === undefined ? undefined : await latestStored(applicationId, folder, places);
    if (stored !== undefined) {
      const remark = `How ${applicationId} ended was not kept; its latest complete checkpoint is of step ${stored.step}: ${stored.address}`;
      const left = await checkpointAt({ step: stored.step, path: stored.address }, places, "Somebody removes it");
      return { ...left, remarks: [remark, ...left.remarks] };
    }
  }
  if (status === undefined) {
    const why = remark ?? NOT_KEPT;
    throw nothingLeft(`It is not known where the ${what} of ${applicationId} would be: ${why}`);
  }
  if (what !== "checkpoint") return await resultsOf(status, task, places, applications.folder?.(applicationId));
  return await lastCheckpointOf(task === undefined ? status : ofTrial(status, task), places);
}

/** The trial's part of the status, as if it were a job of its own. */
function ofTrial(status: JobStatus, trial: string): JobStatus {
  const { checkpoint: _, droppedCheckpoint: __, resumeFrom: ___, search: ____, ...job } = status;
  const lead = status.tasks.find(
    (task) => task.trial !== undefined && isOfTrial(shownNameInTrial(status, task.task), trial),
  );
  if (lead === undefined) throw usageError(`${status.applicationId} has no ${trial} that has begun`);
  const { trial: { checkpoint } = {}, checkpointStep: step = 0 } = lead;
  const own = { ...job, applicationId: `${trial} of ${status.applicationId}` };
  return checkpoint === undefined ? own : { ...own, checkpoint: { step, path: checkpoint, atMs: 0 } };
}

function ownFolder(application: string, what: GetJson["what"], task: string | undefined): string {
  const ofTask = task?.includes(":") === true ? task.replaceAll(":", "-") : "";
  const below = what === "results" ? ofTask : path.join(ofTask, what);
  return path.join(application, below);
}

async function fetchShown(left: LeftTree, folder: string, { output }: ClientContext): Promise<void> {
  const { files } = left;
  let [count, bytes] = [0, 0];
  const all = sumOf(files);
  const tell = () => {
    const line = `fetching: ${count} of ${countWords(files.length, "file")}, ${sizeWords(bytes)} of ${sizeWords(all)}`;
    output.waitAside({ lines: [line], cause: "fetching", line, change: "", facts: [] });
  };
  const timer = setInterval(tell, tellEachMs);
  const fetched = ({ sizeBytes }: LeftFile) => {
    count += 1;
    bytes += sizeBytes;
  };
  try {
    await fetchFiles(left, { folder, fetched });
  } finally {
    clearInterval(timer);
    output.endWait();
  }
}

function listLines({ files, folders }: LeftTree, folder: string, dryRun: boolean): string[] {
  const rows = [
    ...files.map(({ path: name, sizeBytes }) => [path.join(folder, name), sizeWords(sizeBytes)]),
    ...folders.map((name) => [path.join(folder, name), "empty folder"]),
  ];
  const all = `${countWords(files.length, "file")}, ${sizeWords(sumOf(files))}`;
  return [...formatTable(rows), dryRun ? `Would fetch ${all} to ${folder}` : `Fetched ${all} to ${folder}`];
}

function sumOf(files: readonly LeftFile[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function getJson({ application, what, dryRun }: GetOptions, folder: string, { files, remarks }: LeftFiles): GetJson {
  return {
    applicationId: application,
    what,
    dryRun,
    folder,
    files: files.map((file) => {
      return { path: file.path, url: `${file.fileSystem.uri}${file.source}`, sizeBytes: file.sizeBytes };
    }),
    remarks,
  };
}
