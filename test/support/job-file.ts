import type { JobFile } from "../../src/job/stored/job-file.ts";
import { aJobSpec } from "./job-spec.ts";

/** What a client writes of a job without files. */
export function aJobFile(changes: Partial<JobFile> = {}): JobFile {
  return {
    jobFileVersion: 1,
    build: "test",
    applicationId: "application_1_0001",
    user: "ada",
    spec: aJobSpec(),
    stagingUrl: "hdfs://ns/user/ada/.tony-ts/application_1_0001",
    files: { master: [], all: [], byRole: {} },
    node: "node",
    hadoop: {},
    sharedLabels: [],
    resourceTypes: [],
    ...changes,
  };
}
