import { usageError } from "../../src/errors.ts";
import { checkJob, type JobText, lookUpLocalPath } from "../../src/job/build/load-job.ts";
import { invalidJob, type Problem } from "../../src/job/problem.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ClientContext } from "../context.ts";
import { type LogSelection, noSuchTask, tasksOf } from "../logs/log-selection.ts";
import { leftBehind, topOfSources } from "../shipping/packing/exclusion.ts";
import { readSecrets } from "./read-secrets.ts";

/** A job without errors, as far as that can be known without a cluster. */
export interface OfflineCheck {
  readonly spec: JobSpec;
  /** The values of `tony.application.secrets`. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Warnings. */
  readonly problems: readonly Problem[];
}

const NO_SEARCH =
  "The job describes a search (tony.search.*): tony-ts search runs it, and with --dry-run shows its trials";

/**
 * Checks a job as far as possible without a cluster: what `validate` reports as an error is refused here.
 * @param logs whose output is to be shown
 * @throws UserError (`JOB_INVALID`) with all errors, or because the job describes a search, or naming a task that the job does not have or a secret
 * that cannot be read
 */
export function checkOffline(text: JobText, logs: LogSelection, context: ClientContext): OfflineCheck {
  const { spec, search, problems } = checkJob(text, jobContextOf(context));
  if (spec === undefined) throw invalidJob(problems);
  if (search !== undefined && !text.submission.runsSearch) throw usageError(NO_SEARCH);
  const unknownTask = noSuchTask(logs, tasksOf(spec.roles));
  if (unknownTask !== undefined) throw unknownTask;
  return { spec, secrets: readSecrets(text.settings, context), problems };
}

/** Where to look for a job's files. */
export function jobContextOf({ workingDirectory }: ClientContext): Parameters<typeof checkJob>[1] {
  return { workingDirectory, lookUp: lookUpLocalPath, listSources: topOfSources, findLeftBehind: leftBehind };
}
