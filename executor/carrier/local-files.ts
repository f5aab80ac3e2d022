import { copyFileSync, linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";

export interface LocalFile {
  /** Relative to the folder that is uploaded. */
  readonly path: string;
  readonly sizeBytes: number;
}

/**
 * Where a path that a program names lies below a folder, relative to it; undefined when it does not.
 * @param workFolder what the path is relative to
 */
export function nameWithin(folder: string, named: string, workFolder: string): string | undefined {
  const local = named.replace(/^file:(\/\/[^/]*)?(?=\/)/, "");
  if (/^[a-z][a-z0-9+.-]+:/i.test(local)) return undefined;
  const relative = path.relative(folder, path.resolve(workFolder, local));
  return relative === "" || relative === ".." || relative.startsWith("../") ? undefined : relative;
}

/**
 * The files of the checkpoint of that name: the file itself, all of the folder, or, where there is neither, the files whose names continue
 * it with a dot or a dash, such as TensorFlow's `model-50.index`.
 * @throws TonyError (`CHECKPOINT_MISSING`) when there are none
 */
export function checkpointFiles(folder: string, name: string): LocalFile[] {
  const stats = statSync(path.join(folder, name), { throwIfNoEntry: false });
  if (stats?.isFile() === true) return [{ path: name, sizeBytes: stats.size }];
  if (stats?.isDirectory() === true) return filesBelow(folder, name);
  const parent = path.dirname(name);
  const base = path.basename(name);
  const found = filesBelow(folder, parent === "." ? "" : parent).filter(
    (file) =>
      path.dirname(file.path) === parent &&
      file.path.slice(parent === "." ? 0 : parent.length + 1).startsWith(`${base}.`),
  );
  if (found.length > 0) return found;
  throw new TonyError(`${path.join(folder, name)} does not exist`, { code: "CHECKPOINT_MISSING" });
}

/** All files below a folder, including links to files; none when there is no such folder. */
export function filesBelow(folder: string, below = ""): LocalFile[] {
  const entries = readEntries(path.join(folder, below));
  return entries.flatMap((entry) => {
    const relative = path.join(below, entry.name);
    if (entry.isDirectory()) return filesBelow(folder, relative);
    const stats = statSync(path.join(folder, relative), { throwIfNoEntry: false });
    return stats?.isFile() === true ? [{ path: relative, sizeBytes: stats.size }] : [];
  });
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/**
 * Gives the files a second name (a hard link) in another folder, so that the program may remove or replace them while they are uploaded.
 * They take no room of their own until it does.
 */
export function holdFiles(folder: string, files: readonly LocalFile[], hold: string): void {
  rmSync(hold, { recursive: true, force: true });
  for (const file of files) {
    const [from, to] = [path.join(folder, file.path), path.join(hold, file.path)];
    mkdirSync(path.dirname(to), { recursive: true });
    try {
      linkSync(from, to);
    } catch (error) {
      // The folder is on another file system, or its file system has no links.
      if (errorCode(error) !== "EXDEV" && errorCode(error) !== "EPERM") throw error;
      copyFileSync(from, to);
    }
  }
}
