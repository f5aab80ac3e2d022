import path from "node:path/posix";
import { globExpression } from "../glob.ts";
import { hasCode } from "./errors.ts";
import type { FileStatus, FileSystem } from "./file-system.ts";
import { listIfThere } from "./if-there.ts";

type Looked = Pick<FileSystem, "stat" | "list">;

interface FoundFile {
  readonly path: string;
  readonly length: number;
  readonly modifiedMs: number;
}

/**
 * The files that match a path, each component of which may be a pattern. A matched directory stands for the files directly in it, except
 * those whose names begin with . or _.
 * Rejects with FILE_NOT_FOUND if a path without patterns matches nothing.
 */
export async function findFiles(fileSystem: Looked, pattern: string): Promise<readonly FoundFile[]> {
  const statuses: FileStatus[] = [];
  for (const found of await matching(fileSystem, "/", pattern.split("/").filter(Boolean))) {
    if (found.type !== "DIRECTORY") statuses.push(found);
    else for (const file of await fileSystem.list(found.path)) if (isShownFile(file)) statuses.push(file);
  }
  return statuses.map(({ path: file, lengthBytes, modificationTimeMs }) => ({
    path: file,
    length: lengthBytes,
    modifiedMs: modificationTimeMs,
  }));
}

/** What below the folder matches a path, each component of which may be a pattern. */
async function matching(fileSystem: Looked, folder: string, parts: readonly string[]): Promise<FileStatus[]> {
  const pattern = parts.findIndex((part) => /[*?[{]/.test(part));
  const [part, ...rest] = pattern < 0 ? [] : parts.slice(pattern);
  const base = path.join(folder, ...(part === undefined ? parts : parts.slice(0, pattern)));
  if (part === undefined) return [await fileSystem.stat(base)];
  const expression = globExpression(part);
  const entries = await listIfThere(fileSystem, base);
  const found = entries.filter((entry) => isShown(entry) && expression.test(path.basename(entry.path)));
  if (rest.length === 0) return found;
  const below: FileStatus[] = [];
  for (const entry of found.filter(({ type }) => type === "DIRECTORY")) {
    try {
      below.push(...(await matching(fileSystem, entry.path, rest)));
    } catch (error) {
      if (!hasCode(error, "FILE_NOT_FOUND")) throw error;
    }
  }
  return below;
}

/** Hadoop's jobs skip the same names (FileInputFormat.hiddenFileFilter): _SUCCESS, .part-0.crc. */
function isShown({ path: file }: FileStatus): boolean {
  return !/^[._]/.test(path.basename(file));
}

function isShownFile(status: FileStatus): boolean {
  return status.type !== "DIRECTORY" && isShown(status);
}
