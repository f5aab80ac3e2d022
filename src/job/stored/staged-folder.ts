import path from "node:path/posix";
import type { FileSystem } from "../../hadoop/hdfs/file-system.ts";
import { listIfThere } from "../../hadoop/hdfs/if-there.ts";

/** Folders in a job's staging folder, of its journal, its key-value store and its feeds. */
export const STAGED_FOLDERS = { journal: "journal", store: "store", feeds: "feeds" } as const;

/**
 * Removes what is staged for an application. A folder of another name is nobody's of ours: a job may keep its results or checkpoints
 * there, for which its application's folder is the same one. It stays.
 * @returns whether there was anything to remove
 */
export async function removeStaged(fileSystem: Pick<FileSystem, "list" | "delete">, folder: string): Promise<boolean> {
  const entries = await listIfThere(fileSystem, folder);
  const ours: ReadonlySet<string> = new Set(Object.values(STAGED_FOLDERS));
  const removed = entries.filter(({ type, path: entry }) => type !== "DIRECTORY" || ours.has(path.basename(entry)));
  if (removed.length === entries.length) return await fileSystem.delete(folder, { recursive: true });
  for (const { path: entry } of removed) await fileSystem.delete(entry, { recursive: true });
  return removed.length > 0;
}

/** The file in the staging folder in which an attempt of the ApplicationMaster leaves its address. */
export function masterFile(attempt: number): string {
  return `am-${attempt}.json`;
}

/** @returns the attempt whose address a file of that name holds; undefined of any other file */
export function attemptOfMasterFile(name: string): number | undefined {
  const attempt = /^am-(\d+)\.json$/.exec(name)?.[1];
  return attempt === undefined ? undefined : Number(attempt);
}
