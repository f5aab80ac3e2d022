import { UserError } from "../../src/errors.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { type Applications, hasEnded, NOT_KEPT } from "../applications/applications.ts";
import { checkId, openLocalApplications } from "../applications/backend.ts";
import { isLocalId } from "../applications/local-folder.ts";
import type { ClientContext } from "../context.ts";
import { formatCheckpoint } from "../output/job-tables.ts";
import { latestStored } from "../results/latest-stored.ts";
import type { JobCluster } from "./job-cluster.ts";

/**
 * The checkpoint that `--resume-from` names: the last one of the job with that id, or the path or URL itself.
 * @param text the new job
 * @param place where it will run
 * @throws UserError (`NO_CHECKPOINT`) where the job has none that the new one could read
 */
export async function resumePoint(
  from: string,
  text: JobText,
  local: boolean,
  context: ClientContext,
  place: JobCluster,
): Promise<string> {
  if (!/^(application|local)_[^/]*$/.test(from)) return from;
  checkId(from);
  const isLocal = isLocalId(from);
  const applications = isLocal ? await openLocalApplications(context) : (await place.open()).applications;
  try {
    const report = await applications.report(from);
    const status = await applications.finalStatus(report);
    const why = applications.noStatusReason();
    if (status === undefined && why !== undefined)
      throw noCheckpoint(`The last checkpoint of ${from} is not known: ${why}`);
    const stored = status === undefined ? await storedCheckpoint(report, text, applications) : undefined;
    const { path, words } = stored ?? lastCheckpoint(report, status, applications.user);
    if (isLocal && !local && isOfThisMachine(path))
      throw noCheckpoint(`${from} ran on this machine, and its checkpoint is here: ${path}\n  Add --scheduler local`);
    context.output.problem(`Resuming from ${from}: ${words}`);
    return path;
  } finally {
    if (isLocal) applications.close();
  }
}

interface LastCheckpoint {
  readonly path: string;
  readonly words: string;
}

/**
 * The latest complete checkpoint in the folder of an ended job whose last state was not kept: its AM died for good, or YARN killed it.
 * Where its folder is unknown, the new job's own checkpoint folder is searched.
 */
async function storedCheckpoint(
  report: ApplicationReport,
  { settings }: JobText,
  applications: Applications,
): Promise<LastCheckpoint | undefined> {
  if (!hasEnded(report) || report.user !== applications.user) return undefined;
  const folder =
    (await applications.checkpointDir(report.id)) ?? readSetting(settings, "tony.application.checkpoint-dir");
  if (folder === undefined) return undefined;
  const found = await latestStored(report.id, folder, await applications.fileSystems());
  if (found === undefined) return undefined;
  const { address, step } = found;
  return {
    path: address,
    words: `how it ended was not kept; its latest complete checkpoint is of step ${step}: ${address}`,
  };
}

/** The checkpoint that an ended job left for another. @throws UserError (`NO_CHECKPOINT`) */
export function lastCheckpoint(
  report: ApplicationReport,
  status: JobStatus | undefined,
  caller: string,
): LastCheckpoint {
  const { id, user } = report;
  if (!hasEnded(report))
    throw noCheckpoint(
      `${id} has not ended: a later checkpoint may replace its last one\n  Wait for its end (tony-ts wait ${id}), or end it (tony-ts kill ${id})`,
    );
  if (status === undefined) {
    const why = user === caller ? NOT_KEPT : `only ${user} may read how it ended`;
    throw noCheckpoint(
      `The last checkpoint of ${id} is not known: ${why}\n  Name the checkpoint: --resume-from hdfs://…`,
    );
  }
  const { checkpoint, resumeFrom } = status;
  if (checkpoint !== undefined) return { path: checkpoint.path, words: formatCheckpoint(checkpoint, status) };
  if (resumeFrom === undefined)
    throw noCheckpoint(`${id} left no checkpoint that another job can read${lostWords(status)}`);
  return { path: resumeFrom, words: `it left no checkpoint of its own, and had begun with ${resumeFrom}` };
}

function lostWords({ droppedCheckpoint: lost }: JobStatus): string {
  return lost === undefined ? "" : `: that of step ${lost.step} was in the container of ${lost.task}`;
}

function isOfThisMachine(pathOrUrl: string): boolean {
  return (splitUri(pathOrUrl)?.root.scheme ?? "file") === "file";
}

function noCheckpoint(message: string): UserError {
  return new UserError(message, { code: "NO_CHECKPOINT" });
}
