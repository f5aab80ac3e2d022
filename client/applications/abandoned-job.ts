import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobStatus, TaskState, TaskStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { jobFileName, leftStatusFileName } from "../../src/job/stored/stored-job.ts";
import type { StagingFolder } from "../staging/staging-folder.ts";
import { hasEnded } from "./applications.ts";
import { outcomeOf, parseJobStatus } from "./outcome.ts";

/** A job as it was submitted. @throws when its staging folder is gone */
export async function readJobFile(staging: Pick<StagingFolder, "read">): Promise<JobFile> {
  return parseJobFile((await staging.read(jobFileName)).toString("utf8"));
}

/** Where the job's executors copy checkpoints; undefined: nowhere. */
export function carriedTo({ spec }: Pick<JobFile, "spec">): string | undefined {
  return spec.carrier?.checkpoints === undefined ? undefined : spec.checkpointDir;
}

/**
 * A job as its ApplicationMaster last knew it when YARN ended that attempt, with the end that the ResourceManager reports. Undefined where
 * a later attempt followed, which knew more; a search is the exception, because its ended trials are worth knowing. @throws when no status
 * was left
 */
export async function readLeftStatus(
  staging: Pick<StagingFolder, "read">,
  report: ApplicationReport,
): Promise<JobStatus | undefined> {
  const left = parseJobStatus(await staging.read(leftStatusFileName));
  const { currentAttemptId } = report;
  if (!hasEnded(report)) return undefined;
  const isLast = currentAttemptId !== undefined && parseAttemptId(currentAttemptId).attempt === left.attempt;
  if (!isLast && left.search === undefined) return undefined;
  const outcome = outcomeOf(report, undefined, left.nowMs);
  return { ...left, state: outcome.result, waits: [], tasks: left.tasks.map(withoutContainer), outcome };
}

function withoutContainer(task: TaskStatus): TaskStatus {
  const { state, trial } = task;
  const isCutOff = trial?.state === "running";
  return {
    ...task,
    ...(inContainer.has(state) && { state: "stopped" }),
    ...(isCutOff && { trial: { ...trial, state: "interrupted" } }),
  };
}

/** YARN takes back every container of an application that it ends. */
const inContainer: ReadonlySet<TaskState> = new Set(["allocated", "launched", "registered", "running"]);
