import { createReadStream, statSync } from "node:fs";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { LocalFile } from "./local-files.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { MANIFEST, surplus, UNFINISHED } from "./names.ts";
import type { Pace } from "./pace.ts";

const FOLDER_PERMISSION = 0o755;
const FILE_PERMISSION = 0o644;
const CHUNK_BYTES = 1_048_576;

export interface Upload {
  readonly fileSystem: FileSystem;
  /** On this machine. */
  readonly source: string;
  readonly files: readonly LocalFile[];
  /** The task's folder that is uploaded to. */
  readonly folder: string;
  /** Its name there when it is complete. */
  readonly name: string;
  readonly pace: Pace;
  readonly signal?: AbortSignal;
}

/**
 * Uploads a checkpoint: under a temporary name, with its manifest last, and then renames it. Whenever that is interrupted, the earlier
 * checkpoints stay complete. A checkpoint that is there already is not uploaded again.
 */
export async function uploadCheckpoint(upload: Upload, manifest: Omit<Manifest, "files">): Promise<void> {
  const { fileSystem, folder, name, files, signal } = upload;
  const unfinished = await uploadUnfinished(upload);
  const content = Buffer.from(JSON.stringify({ ...manifest, files } satisfies Manifest));
  await fileSystem.create(`${unfinished}/${MANIFEST}`, content, {
    permission: FILE_PERMISSION,
    ...(signal && { signal }),
  });
  signal?.throwIfAborted();
  // A complete checkpoint of this name is this one: the answer to its rename was lost.
  if (!(await fileSystem.rename(unfinished, `${folder}/${name}`))) await readManifest(fileSystem, `${folder}/${name}`);
}

/** Removes what is no longer needed when a checkpoint is complete. */
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

/** Uploads a task's output and replaces that of its earlier run: under the final name it is always whole. */
export async function uploadOutput(upload: Upload): Promise<void> {
  const { fileSystem, folder, name, signal } = upload;
  const unfinished = await uploadUnfinished(upload);
  signal?.throwIfAborted();
  await fileSystem.delete(`${folder}/${name}`, { recursive: true });
  if (!(await fileSystem.rename(unfinished, `${folder}/${name}`))) {
    throw new TonyError(`${folder}/${name} is written by another process`, { code: "OUTPUT_TAKEN" });
  }
}

/** @returns the folder that holds all files */
async function uploadUnfinished({ fileSystem, source, files, folder, name, pace, signal }: Upload): Promise<string> {
  const unfinished = `${folder}/${UNFINISHED}${name}`;
  signal?.throwIfAborted();
  await fileSystem.delete(unfinished, { recursive: true });
  await fileSystem.mkdirs(unfinished, FOLDER_PERMISSION);
  for (const file of files) {
    const local = path.join(source, file.path);
    const open = () => pace.through(createReadStream(local, { highWaterMark: CHUNK_BYTES }));
    const before = fingerprint(local);
    const content = { lengthBytes: file.sizeBytes, open };
    const options = { permission: FILE_PERMISSION, ...(signal && { signal }) };
    await fileSystem.create(`${unfinished}/${file.path}`, content, options);
    if (fingerprint(local) !== before) {
      throw new TonyError(`${file.path} was changed during its upload`, { code: "FILE_CHANGED" });
    }
  }
  return unfinished;
}

/** What changes when a file is written to. */
function fingerprint(file: string): string {
  const { size, mtimeMs } = statSync(file);
  return `${size} ${mtimeMs}`;
}

/** Of a complete checkpoint. Throws as the file system, SyntaxError or ShapeError. */
export async function readManifest(fileSystem: FileSystem, checkpoint: string): Promise<Manifest> {
  const chunks: Buffer[] = [];
  for await (const chunk of await fileSystem.open(`${checkpoint}/${MANIFEST}`)) chunks.push(Buffer.from(chunk));
  return parseManifest(Buffer.concat(chunks).toString("utf8"));
}
