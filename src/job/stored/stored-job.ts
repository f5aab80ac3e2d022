import { TonyError } from "../../errors.ts";
import { sha256Of } from "./job-keytab.ts";
import { parseStagingLocation, type StagingLocation } from "./staging-location.ts";

/** In the folder of a job of the local scheduler, whose AM is ended by a signal: why the job is to end. */
export const killedFileName = "killed";
/** The state of its job that an attempt of the ApplicationMaster left when YARN ended it: JSON of a JobStatus. */
export const leftStatusFileName = "left-status.json";
/** The name, in the staging folder, of the file that the ApplicationMaster reads first (see job-file.ts). */
export const jobFileName = "job.json";
/** Delegation tokens newer than those of the submission, as a token file that is replaced from time to time. */
export const tokensFileName = "tokens";
/** The cluster's nodes (see cluster-nodes.ts); our local scheduler has none. */
export const nodesFileName = "nodes.json";

/**
 * Where an ApplicationMaster finds its `job.json`, and its hash. It reads the file itself: a NodeManager compares a file's
 * modification time with that in the submission, so the client would have to wait until the file system has closed the file.
 */
export interface StoredJob {
  readonly staging: StagingLocation;
  /** The hash of the file's bytes, hexadecimal: every attempt checks it. */
  readonly sha256: string;
  /** The hash of `nodes.json`, where there is one. */
  readonly nodesSha256?: string;
}

const variable = { staging: "TONY_STAGING", sha256: "TONY_JOB_SHA256", nodesSha256: "TONY_NODES_SHA256" } as const;

/** @param job and nodes: the content of `job.json` and `nodes.json` in the staging folder */
export function storedJob(staging: StagingLocation, job: Uint8Array, nodes?: Uint8Array): StoredJob {
  return { staging, sha256: sha256Of(job), ...(nodes && { nodesSha256: sha256Of(nodes) }) };
}

/** The part of the ApplicationMaster's environment that describes its job; contains no secret. */
export function storedJobEnvironment({ staging, sha256, nodesSha256 }: StoredJob): Record<string, string> {
  return {
    [variable.staging]: JSON.stringify(staging),
    [variable.sha256]: sha256,
    ...(nodesSha256 !== undefined && { [variable.nodesSha256]: nodesSha256 }),
  };
}

/** @throws TonyError with code `NOT_IN_A_CONTAINER` */
export function readStoredJob(environment: Readonly<Record<string, string | undefined>>): StoredJob {
  const staging = parseStagingLocation(environment[variable.staging] ?? "");
  const sha256 = environment[variable.sha256] ?? "";
  const nodesSha256 = environment[variable.nodesSha256];
  const isHash = (text: string) => /^[0-9a-f]{64}$/.test(text);
  if (staging !== undefined && isHash(sha256) && (nodesSha256 === undefined || isHash(nodesSha256))) {
    return { staging, sha256, ...(nodesSha256 !== undefined && { nodesSha256 }) };
  }
  throw new TonyError(
    `${variable.staging} and ${variable.sha256} do not say where ${jobFileName} is: the ApplicationMaster is started by \`tony-ts submit\``,
    { code: "NOT_IN_A_CONTAINER" },
  );
}

/** The text of one of the two files. @throws TonyError with code `JOB_FILE_INVALID` when it is not the submitted one */
export function checkedText(content: Uint8Array, sha256: string, url: string): string {
  if (sha256Of(content) === sha256) return Buffer.from(content).toString("utf8");
  throw new TonyError(`${url} is not the file that was submitted`, { code: "JOB_FILE_INVALID" });
}
