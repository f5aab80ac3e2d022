import type { JobFile } from "../../src/job/stored/job-file.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { jobFileName } from "../../src/job/stored/stored-job.ts";
import type { StagingFolder } from "../staging/staging-folder.ts";

/** A job as it was submitted. @throws where its staging folder has gone */
export async function readJobFile(staging: Pick<StagingFolder, "read">): Promise<JobFile> {
  return parseJobFile((await staging.read(jobFileName)).toString("utf8"));
}

/** Where its executors copy checkpoints; undefined: they do not. */
export function carriedTo({ spec }: Pick<JobFile, "spec">): string | undefined {
  return spec.carrier?.checkpoints === undefined ? undefined : spec.checkpointDir;
}
