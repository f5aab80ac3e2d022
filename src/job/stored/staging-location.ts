import { object, recordOf, type Shape, string } from "../shape.ts";
import { handedToExecutors } from "./handed-settings.ts";
import type { JobFile } from "./job-file.ts";

/** Where a job's staging folder is, and how to reach it. It contains no secret. */
export type StagingLocation = Pick<JobFile, "user" | "stagingUrl" | "hadoop" | "hdfsEndpoint">;

export function stagingLocation({ user, stagingUrl, hadoop, hdfsEndpoint }: StagingLocation): StagingLocation {
  return {
    user,
    stagingUrl,
    hadoop: handedToExecutors(hadoop),
    ...(hdfsEndpoint === undefined ? {} : { hdfsEndpoint }),
  };
}

const shape: Shape<StagingLocation> = object({
  required: { user: string, stagingUrl: string, hadoop: recordOf(string) },
  optional: { hdfsEndpoint: string },
});

/** Reads the JSON of `stagingLocation`; undefined when it is not valid. */
export function parseStagingLocation(json: string): StagingLocation | undefined {
  try {
    return shape(JSON.parse(json), "");
  } catch {
    return undefined;
  }
}
