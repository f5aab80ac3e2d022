import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { literal, object, recordOf, type Shape, string } from "../shape.ts";
import type { JobFile } from "./job-file.ts";
import { parseJobSpec } from "./parse-spec.ts";

/** The job as the ApplicationMaster sends it, in JSON, to an executor that it welcomes. It contains no secret. */
export type ExecutorJob = Omit<
  JobFile,
  "files" | "feeds" | "node" | "sharedLabels" | "resourceTypes" | "queueShares" | "keytab" | "roundings"
>;

/** The fields of job.json that an executor gets too. */
export const executorJobFields = {
  required: {
    jobFileVersion: literal(1),
    build: string,
    applicationId: string,
    user: string,
    spec: parseJobSpec,
    stagingUrl: string,
    hadoop: recordOf(string),
  },
  optional: { hdfsEndpoint: string },
};

const executorJob: Shape<ExecutorJob> = object(executorJobFields);

/** Throws a TonyError with code `JOB_UNREADABLE`. */
export function decodeExecutorJob(bytes: Uint8Array): ExecutorJob {
  try {
    return executorJob(JSON.parse(Buffer.from(bytes).toString("utf8")), "");
  } catch (cause) {
    throw new TonyError(`the ApplicationMaster sent no usable job: ${errorMessage(cause)}`, {
      code: "JOB_UNREADABLE",
      cause,
    });
  }
}
