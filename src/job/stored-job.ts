import { createHash } from "node:crypto";
import { TonyError } from "../errors.ts";
import { parseStagingLocation, type StagingLocation } from "./staging-location.ts";

/** What the staging folder calls the file that the ApplicationMaster reads first (see job-file.ts). */
export const jobFileName = "job.json";

/**
 * Where an ApplicationMaster finds its `job.json`, and which one it is. It reads the file itself: a NodeManager compares a file's
 * modification time with that of the submission, so the client would have to wait until the file system has closed the file.
 */
export interface StoredJob {
  readonly staging: StagingLocation;
  /** Of the file's bytes, hexadecimal: every attempt takes this content and no other. */
  readonly sha256: string;
}

const variable = { staging: "TONY_STAGING", sha256: "TONY_JOB_SHA256" } as const;

/** @param content of `job.json`, as it is put into the staging folder */
export function storedJob(staging: StagingLocation, content: Uint8Array): StoredJob {
  return { staging, sha256: sha256Of(content) };
}

/** What the ApplicationMaster's environment says of its job; holds no secret. */
export function storedJobEnvironment({ staging, sha256 }: StoredJob): Record<string, string> {
  return { [variable.staging]: JSON.stringify(staging), [variable.sha256]: sha256 };
}

/** @throws TonyError with code `NOT_IN_A_CONTAINER` */
export function readStoredJob(environment: Readonly<Record<string, string | undefined>>): StoredJob {
  const staging = parseStagingLocation(environment[variable.staging] ?? "");
  const sha256 = environment[variable.sha256] ?? "";
  if (staging !== undefined && /^[0-9a-f]{64}$/.test(sha256)) return { staging, sha256 };
  throw new TonyError(
    `${variable.staging} and ${variable.sha256} do not say where ${jobFileName} is: the ApplicationMaster is started by \`tony-ts submit\``,
    { code: "NOT_IN_A_CONTAINER" },
  );
}

/** The text of `job.json`. @throws TonyError with code `JOB_FILE_INVALID` when it is not what was submitted */
export function checkedJobText(content: Uint8Array, { staging, sha256 }: StoredJob): string {
  if (sha256Of(content) === sha256) return Buffer.from(content).toString("utf8");
  throw new TonyError(`${staging.stagingUrl}/${jobFileName} is not the file that was submitted`, {
    code: "JOB_FILE_INVALID",
  });
}

function sha256Of(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}
