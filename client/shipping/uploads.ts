import { randomBytes } from "node:crypto";
import path from "node:path/posix";
import { sleep } from "../../src/hadoop/clock.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { ifThere, listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { mayBeAtWork, type Submitter, thisSubmitter } from "../staging/submitter.ts";

/** The folder of a cache in which files are until they are whole. */
export const uploadsFolder = "uploads";

/** Where everybody may write, somebody may have filled the folder: each submission would list it. */
const MOST_LISTED = 10_000;

/** An upload whose submitter cannot be asked, because it is on another machine, is left alone for so long. */
const doubtfulForMs = 24 * 3_600_000;

/** What an upload is called while it is under way: who does it, something unique, and the name it is to have. */
export function uploadName(name: string, { host, pid }: Submitter = thisSubmitter()): string {
  return [host, pid, randomBytes(8).toString("hex"), name].join("-");
}

/** Undefined for a file that is no upload. */
export function parseUploadName(text: string): { readonly submitter: Submitter; readonly name: string } | undefined {
  const [, host, pid, name] = /^(.+?)-(\d+)-[0-9a-f]{16}-(.+)$/.exec(text) ?? [];
  if (host === undefined || name === undefined) return undefined;
  return { submitter: { host, pid: Number(pid) }, name };
}

/**
 * Removes the user's uploads that nobody goes on with: their submitter is known to be gone, or they are too old to be believed in. In a
 * folder of too many, which is somebody's attack, they stay for `cache prune`.
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

/** When a file that was not there yet is looked for again, after a broken off upload. */
const lookAgainAfterMs = [0, 250, 750];

/**
 * Removes what was sent of an upload that was broken off. A DataNode that was slow to begin makes the file when its writer has gone, so
 * one that is not there is looked for again.
 */
export async function removeBrokenOff(fileSystem: Pick<FileSystem, "delete">, file: string): Promise<void> {
  for (const pauseMs of lookAgainAfterMs) {
    await sleep(pauseMs);
    if (await fileSystem.delete(file).catch(() => false)) return;
  }
}

/** What a folder of the cache holds: nothing when it is not there, or when it is somebody else's and closed. */
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
