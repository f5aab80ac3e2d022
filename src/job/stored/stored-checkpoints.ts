import path from "node:path/posix";
import { TonyError } from "../../errors.ts";
import { errorCode, errorMessage } from "../../hadoop/errors.ts";
import { contentUpTo } from "../../hadoop/hdfs/content.ts";
import type { FileStatus, FileSystem } from "../../hadoop/hdfs/file-system.ts";
import { ifThere, listIfThere } from "../../hadoop/hdfs/if-there.ts";
import { type Manifest, parseManifest } from "./carried-lists.ts";
import { type CarriedName, furthestFirst, MANIFEST, parseCarriedName } from "./carried-names.ts";

/** The required part of a file system. */
type Reading = Pick<FileSystem, "list" | "open">;

/** The expected content of a folder, by its names there. */
export interface StoredTree {
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[];
  readonly folders: readonly string[];
}

/** Why a folder does not have all of its expected content; undefined: it has. Lists each folder once. */
export async function missingOf(
  fileSystem: Pick<FileSystem, "list">,
  folder: string,
  { files, folders }: StoredTree,
): Promise<string | undefined> {
  const found = new Map<string, FileStatus>();
  const listed = new Set([".", ...files.map((file) => path.dirname(file.path)), ...folders.map(path.dirname)]);
  for (const below of listed) {
    const entries = await listIfThere(fileSystem, path.join(folder, below));
    for (const entry of entries) found.set(path.join(below, path.basename(entry.path)), entry);
  }
  const wrong = [
    ...files.flatMap(({ path: file, sizeBytes }) => {
      const there = found.get(file);
      if (there?.type !== "FILE") return [`${file} is not there`];
      return there.lengthBytes === sizeBytes ? [] : [`${file} has ${there.lengthBytes} bytes, not ${sizeBytes}`];
    }),
    ...folders.flatMap((one) => (found.get(one)?.type === "DIRECTORY" ? [] : [`the folder ${one} is not there`])),
  ];
  const [first] = wrong;
  if (first === undefined) return undefined;
  return wrong.length === 1 ? first : `${first}, and ${wrong.length - 1} more are not as they were`;
}

/** Enough for hundreds of thousands of files. */
const MOST_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Reads the manifest of a complete checkpoint. Throws the file system's error, or a TonyError with code `CHECKPOINT_DAMAGED`. */
export async function readManifest(fileSystem: Pick<FileSystem, "open">, checkpoint: string): Promise<Manifest> {
  const file = `${checkpoint}/${MANIFEST}`;
  const content = await contentUpTo(fileSystem, file, MOST_MANIFEST_BYTES);
  if (content === undefined) throw damaged(file, `it is longer than ${MOST_MANIFEST_BYTES} bytes`);
  try {
    return parseManifest(content.toString("utf8"));
  } catch (error) {
    throw damaged(file, errorMessage(error), error);
  }
}

function damaged(file: string, why: string, cause?: unknown): TonyError {
  return new TonyError(`${file} is not a list of a checkpoint's files: ${why}`, { code: "CHECKPOINT_DAMAGED", cause });
}

/** A checkpoint with all its files. */
export interface WholeCheckpoint {
  readonly path: string;
  readonly manifest: Manifest;
}

/**
 * The manifest of a checkpoint whose files are all there.
 * @throws the file system's error; FILE_NOT_FOUND where it has no manifest; TonyError (`CHECKPOINT_DAMAGED`)
 */
export async function readWhole(fileSystem: Reading, checkpoint: string): Promise<WholeCheckpoint> {
  const manifest = await readManifest(fileSystem, checkpoint);
  const missing = await missingOf(fileSystem, checkpoint, {
    files: manifest.files.map(({ path: file, stored = file, sizeBytes }) => ({ path: stored, sizeBytes })),
    folders: [],
  });
  if (missing === undefined) return { path: checkpoint, manifest };
  throw new TonyError(`${checkpoint}: ${missing}`, { code: "CHECKPOINT_DAMAGED" });
}

/**
 * The checkpoint at that path, or where it is damaged or gone, the previous one of the same task; if it is gone, the task's latest,
 * which may have replaced it.
 * @param passed is called with each checkpoint that is skipped, and why
 * @throws the first one's error, where no other is intact
 */
export async function wholeOrEarlier(
  fileSystem: Reading,
  checkpoint: string,
  passed: (checkpoint: string, why: string, taken: WholeCheckpoint) => void,
): Promise<WholeCheckpoint> {
  let failure: unknown;
  try {
    return await readWhole(fileSystem, checkpoint);
  } catch (error) {
    if (!isDamage(error)) throw error;
    failure = error;
  }
  const folder = path.dirname(checkpoint);
  const named = parseCarriedName(path.basename(checkpoint));
  const names = furthestFirst((await listIfThere(fileSystem, folder)).map((entry) => path.basename(entry.path)));
  const isThere = names.some(({ name }) => name === named?.name);
  const others = isThere && named !== undefined ? names.filter((name) => isBefore(name, named)) : names;
  for (const { name } of others) {
    const found = await ifWhole(fileSystem, `${folder}/${name}`);
    if (found === undefined) continue;
    passed(checkpoint, errorMessage(failure), found);
    return found;
  }
  throw failure;
}

/** The latest intact checkpoint in a task's folder; undefined: there is none. */
export async function latestWhole(fileSystem: Reading, folder: string): Promise<WholeCheckpoint | undefined> {
  const names = furthestFirst((await listIfThere(fileSystem, folder)).map((entry) => path.basename(entry.path)));
  for (const { name } of names) {
    const found = await ifWhole(fileSystem, `${folder}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The furthest intact checkpoint of any task. @param folder the job's, in which each task has its own */
export async function latestOfJob(fileSystem: Reading, folder: string): Promise<WholeCheckpoint | undefined> {
  const found: WholeCheckpoint[] = [];
  for (const task of await listIfThere(fileSystem, folder)) {
    const latest = task.type === "DIRECTORY" ? await latestWhole(fileSystem, task.path) : undefined;
    if (latest !== undefined) found.push(latest);
  }
  const [furthest] = found.sort(({ manifest: a }, { manifest: b }) => b.step - a.step || b.atMs - a.atMs);
  return furthest;
}

async function ifWhole(fileSystem: Reading, checkpoint: string): Promise<WholeCheckpoint | undefined> {
  try {
    return await ifThere(readWhole(fileSystem, checkpoint));
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

function isDamage(error: unknown): boolean {
  return errorCode(error) === "CHECKPOINT_DAMAGED" || errorCode(error) === "FILE_NOT_FOUND";
}

function isBefore(one: CarriedName, other: CarriedName): boolean {
  return one.step < other.step || (one.step === other.step && one.atMs < other.atMs);
}
