import { fileSystemKey } from "../hadoop/hdfs/file-system-keys.ts";
import type { JobFile } from "./job-file.ts";
import { object, recordOf, type Shape, string } from "./shape.ts";

/** Where a job's staging folder is, and how it is reached. It holds no secret. */
export type StagingLocation = Pick<JobFile, "user" | "stagingUrl" | "hadoop" | "hdfsEndpoint">;

/** Of the Hadoop properties only what says where file systems are: a site sets hundreds, and a container's environment is small. */
export function stagingLocation({ user, stagingUrl, hadoop, hdfsEndpoint }: StagingLocation): StagingLocation {
  const needed = Object.entries(hadoop).filter(([key]) => fileSystemKey.test(key));
  return {
    user,
    stagingUrl,
    hadoop: Object.fromEntries(needed),
    ...(hdfsEndpoint === undefined ? {} : { hdfsEndpoint }),
  };
}

const shape: Shape<StagingLocation> = object({
  required: { user: string, stagingUrl: string, hadoop: recordOf(string) },
  optional: { hdfsEndpoint: string },
});

/** Reads what `stagingLocation` gave, from JSON; undefined when it is none. */
export function parseStagingLocation(json: string): StagingLocation | undefined {
  try {
    return shape(JSON.parse(json), "");
  } catch {
    return undefined;
  }
}
