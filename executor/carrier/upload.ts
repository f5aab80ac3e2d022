import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { onDisk } from "../../src/file-names.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { CarriedFile, LeftOut, Manifest, NamesList } from "../../src/job/stored/carried-lists.ts";
import { MANIFEST, NAMES, surplus, UNFINISHED } from "../../src/job/stored/carried-names.ts";
import { missingOf, readWhole } from "../../src/job/stored/stored-checkpoints.ts";
import { type FoundFile, type FoundFiles, type FoundTree, requireUnchanged } from "./local-files.ts";
import type { Pace } from "./pace.ts";
import { storedName } from "./stored-name.ts";

const FOLDER_PERMISSION = 0o755;
const FILE_PERMISSION = 0o644;
const PROGRAM_PERMISSION = 0o755;
const CHUNK_BYTES = 1_048_576;

export interface Upload extends FoundTree {
  readonly fileSystem: FileSystem;
  /** On this machine. */
  readonly source: string;
  /** The task's folder, the target of the upload. */
  readonly folder: string;
  /** Its name there when it is complete. */
  readonly name: string;
  readonly pace: Pace;
  readonly signal?: AbortSignal;
}

/**
 * Uploads a checkpoint under a temporary name, its manifest last, and then renames it. Whenever that is interrupted, the earlier
 * checkpoints stay complete. A checkpoint that is already there is not uploaded again.
 */
export async function uploadCheckpoint(upload: Upload, manifest: Omit<Manifest, "files" | "folders">): Promise<void> {
  const { fileSystem, folder, name, files, folders, signal } = upload;
  const unfinished = await uploadUnfinished(upload);
  const lists = { files: files.map(carriedFile), ...(folders.length > 0 && { folders }) };
  const content = Buffer.from(JSON.stringify({ ...manifest, ...lists } satisfies Manifest));
  await fileSystem.create(`${unfinished}/${MANIFEST}`, content, {
    permission: FILE_PERMISSION,
    ...(signal && { signal }),
  });
  await requireStored(upload, unfinished, { files, folders }, [MANIFEST, content]);
  signal?.throwIfAborted();
  // A complete checkpoint of this name is this one: the answer to its rename was lost.
  if (!(await fileSystem.rename(unfinished, `${folder}/${name}`))) await readWhole(fileSystem, `${folder}/${name}`);
}

/** Removes checkpoints that are no longer needed once a newer one is complete. */
export async function removeSurplus(
  fileSystem: FileSystem,
  folder: string,
  keep: number,
  signal?: AbortSignal,
): Promise<void> {
  const names = (await fileSystem.list(folder)).map((entry) => path.posix.basename(entry.path));
  for (const name of surplus(names, keep)) {
    signal?.throwIfAborted();
    await fileSystem.delete(`${folder}/${name}`, { recursive: true });
  }
}

export interface OutputUpload extends Upload {
  readonly leftOut: readonly LeftOut[];
  /** Why a file that failed is left out; undefined: the whole upload fails. */
  readonly refusal: (error: unknown) => string | undefined;
}

/**
 * Uploads a task's output and replaces that of its earlier run, with a list of files that are stored under another name or were left
 * out.
 * @returns what was stored and what was not
 */
export async function uploadOutput(upload: OutputUpload): Promise<FoundFiles> {
  const { fileSystem, folder, name, signal, leftOut: before } = upload;
  const refused: LeftOut[] = [];
  const unfinished = await uploadUnfinished(upload, (file, error) => {
    const why = upload.refusal(error);
    if (why === undefined) throw error;
    refused.push({ path: file.path, why, isLoss: true });
  });
  const leftOut = [...before, ...refused];
  const missing = new Set(refused.map((file) => file.path));
  const files = upload.files.filter((file) => !missing.has(file.path));
  const kept = upload.folders.filter((one) => !missing.has(one));
  const renamed = [...files.map(carriedFile), ...kept.map(carriedFolder)].filter(({ stored }) => stored !== undefined);
  const isListed = renamed.length > 0 || leftOut.length > 0;
  const content = Buffer.from(JSON.stringify({ namesVersion: 1, renamed, leftOut } satisfies NamesList));
  if (isListed) {
    const options = { permission: FILE_PERMISSION, ...(signal && { signal }) };
    await fileSystem.create(`${unfinished}/${NAMES}`, content, options);
  }
  await requireStored(upload, unfinished, { files, folders: kept }, isListed ? [NAMES, content] : undefined);
  signal?.throwIfAborted();
  await fileSystem.delete(`${folder}/${name}`, { recursive: true });
  if (!(await fileSystem.rename(unfinished, `${folder}/${name}`))) {
    throw new TonyError(`${folder}/${name} is written by another process`, { code: "OUTPUT_TAKEN" });
  }
  return { files, folders: kept, leftOut };
}

/** @returns the folder with all files */
async function uploadUnfinished(
  { fileSystem, source, files, folders, folder, name, pace, signal }: Upload,
  failed: (file: Pick<FoundFile, "path">, error: unknown) => void = (_, error) => {
    throw error;
  },
): Promise<string> {
  const unfinished = `${folder}/${UNFINISHED}${name}`;
  signal?.throwIfAborted();
  await fileSystem.delete(unfinished, { recursive: true });
  await fileSystem.mkdirs(unfinished, FOLDER_PERMISSION);
  const uploadFile = async (file: FoundFile) => {
    const local = onDisk(path.join(source, file.path));
    const stored = `${unfinished}/${file.stored ?? file.path}`;
    let refused: string | undefined;
    const open = () => {
      const source = createReadStream(local, { highWaterMark: CHUNK_BYTES });
      source.once("error", (error) => {
        refused = readRefusal(error, local);
      });
      return pace.through(source);
    };
    const content = { lengthBytes: file.sizeBytes, open };
    const permission = file.executable === true ? PROGRAM_PERMISSION : FILE_PERMISSION;
    const options = { permission, ...(signal && { signal }) };
    await fileSystem.create(stored, content, options).catch(async (error: unknown) => {
      if (refused !== undefined) return;
      // For a file that grows, the file system's own error would not say so.
      if (signal?.aborted !== true) requireUnchanged(file, await stat(local));
      throw error;
    });
    if (refused !== undefined) {
      await fileSystem.delete(stored);
      throw new TonyError(`it cannot be read (${refused})`, { code: "FILE_UNREADABLE" });
    }
    requireUnchanged(file, await stat(local));
  };
  for (const one of folders) {
    signal?.throwIfAborted();
    const made = fileSystem.mkdirs(`${unfinished}/${storedName(one)}`, FOLDER_PERMISSION);
    await made.catch((error: unknown) => failed({ path: one }, error));
  }
  for (const file of files) await uploadFile(file).catch((error: unknown) => failed(file, error));
  return unfinished;
}

/** Why a local file could not be read; undefined where the reader was ended for another reason, such as a failure of the other end. */
function readRefusal(error: NodeJS.ErrnoException, local: string | Buffer): string | undefined {
  return error.syscall === "read" || (error.syscall === "open" && error.path === String(local))
    ? error.code
    : undefined;
}

/** What is recorded of it where it is stored. */
function carriedFile({ mtimeMs: _, ...file }: FoundFile): CarriedFile {
  return file;
}

/** The same for an empty folder. */
function carriedFolder(folder: string): CarriedFile {
  const stored = storedName(folder);
  return { path: folder, ...(stored !== folder && { stored }), sizeBytes: 0 };
}

/** Files may have been removed while others were uploaded: without this check the folder would be called complete without them. */
async function requireStored(
  { fileSystem, signal }: Pick<Upload, "fileSystem" | "signal">,
  folder: string,
  { files, folders }: FoundTree,
  list?: readonly [string, Buffer],
): Promise<void> {
  signal?.throwIfAborted();
  const missing = await missingOf(fileSystem, folder, {
    files: [
      ...files.map(({ path: file, stored = file, sizeBytes }) => ({ path: stored, sizeBytes })),
      ...(list === undefined ? [] : [{ path: list[0], sizeBytes: list[1].length }]),
    ],
    folders: folders.map(storedName),
  });
  if (missing === undefined) return;
  const why = "somebody or something removes or changes files there";
  throw new TonyError(`${folder} is not as it was uploaded: ${missing}: ${why}`, { code: "UPLOAD_LOST" });
}
