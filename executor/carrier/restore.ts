import { createWriteStream } from "node:fs";
import { lstat, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { TonyError } from "../../src/errors.ts";
import { nameOf, onDisk } from "../../src/file-names.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { CarriedFile, Manifest } from "../../src/job/stored/carried-lists.ts";
import { parseCarriedName } from "../../src/job/stored/carried-names.ts";
import { type WholeCheckpoint, wholeOrEarlier } from "../../src/job/stored/stored-checkpoints.ts";

export interface Restore {
  readonly fileSystem: FileSystem;
  /** The uploaded checkpoint. */
  readonly checkpoint: string;
  /** The program's folder of checkpoints. */
  readonly localDir: string;
  /** Another folder on the same disk. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  /** Called when a checkpoint is damaged or gone and another one is taken. */
  readonly passed: (checkpoint: string, why: string, taken: WholeCheckpoint) => void;
}

/**
 * Downloads a complete checkpoint, so that the program's folder contains it and nothing else: all tasks then begin with the same one. If it
 * has been removed because of a later one, the latest in its folder is taken; if it is damaged, the one before it.
 * @returns its path on this machine, as the program named it when it saved it
 */
export async function restoreCheckpoint(restore: Restore): Promise<string> {
  const { fileSystem, checkpoint, localDir, scratch, signal } = restore;
  const { path: source, manifest } =
    parseCarriedName(path.posix.basename(checkpoint)) === undefined
      ? await asItIs(fileSystem, checkpoint)
      : await wholeOrEarlier(fileSystem, checkpoint, restore.passed);
  await rm(scratch, { recursive: true, force: true });
  // Also for a checkpoint without files, which earlier releases stored.
  await mkdir(scratch, { recursive: true });
  for (const folder of manifest.folders ?? []) await mkdir(onDisk(path.join(scratch, folder)), { recursive: true });
  for (const { path: file, stored = file, sizeBytes, executable = false } of manifest.files) {
    const target = onDisk(path.join(scratch, file));
    await mkdir(onDisk(path.dirname(path.join(scratch, file))), { recursive: true });
    const written = createWriteStream(target, { mode: executable ? 0o777 : 0o666 });
    await pipeline(await fileSystem.open(`${source}/${stored}`, { signal }), written, { signal });
    const { size } = await stat(target);
    if (size === sizeBytes) continue;
    throw new TonyError(`${source}/${stored} has ${size} bytes, ${sizeBytes} were saved`, {
      code: "CHECKPOINT_DAMAGED",
    });
  }
  await clearFolder(localDir);
  for (const name of await namesIn(scratch)) {
    await rename(onDisk(path.join(scratch, name)), onDisk(path.join(localDir, name)));
  }
  return path.join(localDir, manifest.name);
}

/** A file or folder that no executor stored, with a list of its present content. */
async function asItIs(
  fileSystem: FileSystem,
  checkpoint: string,
): Promise<{ readonly path: string; readonly manifest: Pick<Manifest, "name" | "files" | "folders"> }> {
  const name = path.posix.basename(checkpoint);
  const files: CarriedFile[] = [];
  const folders: string[] = [];
  const take = async ({ path: place, type, lengthBytes }: FileStatus): Promise<void> => {
    const relative = path.posix.join(name, path.posix.relative(checkpoint, place));
    if (type !== "DIRECTORY") {
      files.push({ path: relative, sizeBytes: lengthBytes });
      return;
    }
    const entries = await fileSystem.list(place);
    if (entries.length === 0) folders.push(relative);
    for (const entry of entries) await take(entry);
  };
  await take({ ...(await fileSystem.stat(checkpoint)), path: checkpoint });
  return { path: path.posix.dirname(checkpoint), manifest: { name, files, folders } };
}

/** Makes an empty folder. @throws TonyError (`FOLDER_IS_A_LINK`) for a link, behind which others may have files */
export async function clearFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!(await lstat(folder)).isDirectory()) {
    throw new TonyError(`${folder} is a link: name another tony.checkpoint.local-dir`, { code: "FOLDER_IS_A_LINK" });
  }
  for (const name of await namesIn(folder)) {
    await rm(onDisk(path.join(folder, name)), { recursive: true, force: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder, "buffer")).map(nameOf);
}
