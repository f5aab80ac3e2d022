import path from "node:path/posix";
import type { FileSystem } from "../../hadoop/hdfs/file-system.ts";
import { listIfThere } from "../../hadoop/hdfs/if-there.ts";

/** Subfolders of a job's staging folder, for its journal, its key-value store and its feeds. */
export const STAGED_FOLDERS = { journal: "journal", store: "store", feeds: "feeds" } as const;

/**
 * Removes the staged files of an application. A subfolder with any other name is not ours and stays: a job may keep its results or
 * checkpoints there, where its application has the same folder.
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

/** The file in the staging folder to which an attempt of the ApplicationMaster writes its address. */
export function masterFile(attempt: number): string {
  return `am-${attempt}.json`;
}

/** @returns the attempt whose address is in a file of that name; undefined for any other file */
export function attemptOfMasterFile(name: string): number | undefined {
  const attempt = /^am-(\d+)\.json$/.exec(name)?.[1];
  return attempt === undefined ? undefined : Number(attempt);
}
