import { randomBytes } from "node:crypto";
import path from "node:path/posix";
import { sleep } from "../../src/hadoop/clock.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { ifThere, listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { mayBeAtWork, type Submitter, thisSubmitter } from "../staging/submitter.ts";

/** The cache's folder for incomplete files. */
export const uploadsFolder = "uploads";

/** Where everybody may write, somebody may have filled the folder, and each submission would list it. */
const MOST_LISTED = 10_000;

/** An upload whose submitter cannot be checked, because it is on another machine, is left alone for this long. */
const doubtfulForMs = 24 * 3_600_000;

/** The name of an upload in progress: its submitter, something unique, and the final name. */
export function uploadName(name: string, { host, pid }: Submitter = thisSubmitter()): string {
  return [host, pid, randomBytes(8).toString("hex"), name].join("-");
}

/** Undefined for a file that is not an upload. */
export function parseUploadName(text: string): { readonly submitter: Submitter; readonly name: string } | undefined {
  const [, host, pid, name] = /^(.+?)-(\d+)-[0-9a-f]{16}-(.+)$/.exec(text) ?? [];
  if (host === undefined || name === undefined) return undefined;
  return { submitter: { host, pid: Number(pid) }, name };
}

/**
 * Removes the user's abandoned uploads: their submitter is known to be gone, or they are too old. In a folder with too many files,
 * which only an attack explains, they stay for `cache prune`.
 * @param cacheRoot the cache's folder
 * @throws FileSystemError when they cannot be read or removed
 */
export async function sweepUploads(
  fileSystem: FileSystem,
  cacheRoot: string,
  { user, nowMs }: { readonly user: string; readonly nowMs: number },
): Promise<void> {
  const folder = path.join(cacheRoot, uploadsFolder);
  const { entries = 0 } = (await ifThere(fileSystem.stat(folder))) ?? {};
  if (entries > MOST_LISTED) return;
  const uploads = await listOrNothing(fileSystem, folder);
  const abandoned = uploads.filter((file) => file.owner === user && isAbandoned(file, nowMs));
  await Promise.all(abandoned.map((file) => fileSystem.delete(file.path)));
}

/** When to look again for a missing file, after an aborted upload. */
const lookAgainAfterMs = [0, 250, 750];

/** Removes what an aborted upload had sent. A slow DataNode may create the file after its writer has gone, so a missing one is looked for again. */
export async function removeBrokenOff(fileSystem: Pick<FileSystem, "delete">, file: string): Promise<void> {
  for (const pauseMs of lookAgainAfterMs) {
    await sleep(pauseMs);
    if (await fileSystem.delete(file).catch(() => false)) return;
  }
}

/** The content of a folder in the cache: nothing when the folder does not exist, or belongs to another user and is closed. */
export async function listOrNothing(
  fileSystem: Pick<FileSystem, "list">,
  folder: string,
): Promise<readonly FileStatus[]> {
  try {
    return await listIfThere(fileSystem, folder);
  } catch (error) {
    if (hasCode(error, "ACCESS_DENIED")) return [];
    throw error;
  }
}

function isAbandoned({ path: file, modificationTimeMs }: FileStatus, nowMs: number): boolean {
  const submitter = parseUploadName(path.basename(file))?.submitter;
  const gone = submitter !== undefined && !mayBeAtWork(submitter);
  return gone || nowMs - modificationTimeMs > doubtfulForMs;
}
