import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import type { ResourceType } from "../../hadoop/yarn/records.ts";
import type { Rounding, Roundings } from "../amounts.ts";
import { clusterResource, type QueueShares } from "../cluster-nodes.ts";
import { Listing } from "../feeds/listing.ts";
import { arrayOf, count, literal, object, recordOf, type Shape, string } from "../shape.ts";
import { executorJobFields } from "./executor-job.ts";
import type { JobFile, ShippedFile } from "./job-file.ts";
import { jobKeytab } from "./job-keytab.ts";

const shippedFiles = arrayOf<ShippedFile>(
  object({
    required: {
      link: string,
      url: string,
      sizeBytes: count,
      modificationTimeMs: count,
      type: literal("FILE", "ARCHIVE"),
      visibility: literal("PUBLIC", "PRIVATE", "APPLICATION"),
    },
    optional: { sha256: string },
  }),
);

const resourceType: Shape<ResourceType> = object({ required: { name: string, units: string }, optional: {} });

const queueShares: Shape<QueueShares> = object({
  required: { queue: string, ofLabels: recordOf(clusterResource) },
  optional: {},
});

const rounding: Shape<Rounding> = object({ required: { least: count, step: count }, optional: {} });
const roundings: Shape<Roundings> = object({ required: { memoryMiB: rounding, vcores: rounding }, optional: {} });

const jobFile: Shape<JobFile> = object({
  required: {
    ...executorJobFields.required,
    files: object({
      required: { master: shippedFiles, all: shippedFiles, byRole: recordOf(shippedFiles) },
      optional: {},
    }),
    node: string,
    sharedLabels: arrayOf(string),
    resourceTypes: arrayOf(resourceType),
  },
  optional: {
    ...executorJobFields.optional,
    feeds: recordOf(Listing.shape),
    keytab: jobKeytab,
    queueShares,
    roundings,
  },
});

/** Reads the text of job.json. Throws a TonyError with code `JOB_FILE_INVALID` when it is damaged, or of another version of tony-ts. */
export function parseJobFile(text: string): JobFile {
  try {
    return jobFile(JSON.parse(text), "");
  } catch (cause) {
    throw new TonyError(`job.json is not usable: ${errorMessage(cause)}`, { code: "JOB_FILE_INVALID", cause });
  }
}
