import {
  accessSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { CarriedFile, LeftOut } from "../../src/job/stored/carried-lists.ts";
import { storedName } from "./stored-name.ts";

export interface FoundFiles {
  readonly files: readonly CarriedFile[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Where a path that a program names lies below a folder, relative to it; undefined for a URL, and for an absolute path to elsewhere. A program
 * may name it as seen from its working directory or from the folder itself, or by its real path.
 */
export function nameWithin(folder: string, named: string, workFolder: string): string | undefined {
  const local = localPath(named);
  if (local === undefined) return undefined;
  const places = [
    path.resolve(workFolder, local),
    path.resolve(folder, local),
    realPath(path.resolve(workFolder, local)),
  ];
  const names = [folder, realPath(folder)].flatMap((root) => places.flatMap((place) => relativeTo(root, place) ?? []));
  return names.find((name) => hasCheckpoint(folder, name)) ?? names[0];
}

/** `ckpt:5` is a name of a file; what has a slash after its colon is a URL. */
function localPath(named: string): string | undefined {
  if (/^file:\//i.test(named)) return named.replace(/^file:(\/\/[^/]*)?(?=\/)/i, "");
  return /^[a-z][a-z0-9+.-]*:\//i.test(named) ? undefined : named;
}

function relativeTo(folder: string, place: string): string | undefined {
  const relative = path.relative(folder, place);
  if (relative === "") return ".";
  return relative === ".." || relative.startsWith("../") ? undefined : relative;
}

function realPath(place: string): string {
  try {
    return realpathSync(place);
  } catch {
    return place;
  }
}

function hasCheckpoint(folder: string, name: string): boolean {
  try {
    return checkpointFiles(folder, name).length > 0;
  } catch {
    return false;
  }
}

/**
 * The files of the checkpoint of that name: the file itself, all of the folder, or, where there is neither, the files whose names continue
 * it with a dot or a dash, such as TensorFlow's `model-50.index`.
 * @throws TonyError (`CHECKPOINT_MISSING`) when there are none, (`CHECKPOINT_UNREADABLE`) when one of them cannot be uploaded
 */
export function checkpointFiles(folder: string, name: string): readonly CarriedFile[] {
  const stats = statSync(path.join(folder, name), { throwIfNoEntry: false });
  if (stats?.isFile() === true) return [localFile(name, stats.size)];
  if (stats?.isDirectory() === true) return allOf(filesBelow(folder, name));
  const parent = path.dirname(name);
  const base = path.basename(name);
  const belongs = (file: { readonly path: string }) =>
    path.dirname(file.path) === parent && path.basename(file.path).startsWith(`${base}.`);
  const { files, leftOut } = filesBelow(folder, parent === "." ? "" : parent);
  const found = allOf({ files: files.filter(belongs), leftOut: leftOut.filter(belongs) });
  if (found.length > 0) return found;
  throw new TonyError(`${path.join(folder, name)} does not exist`, { code: "CHECKPOINT_MISSING" });
}

function allOf({ files, leftOut }: FoundFiles): readonly CarriedFile[] {
  const lost = leftOut.find(({ isLoss }) => isLoss);
  if (lost === undefined) return files;
  throw new TonyError(`${lost.path} cannot be stored: ${lost.why}`, { code: "CHECKPOINT_UNREADABLE" });
}

/** All files below a folder, those behind links too; none when there is no such folder. */
export function filesBelow(folder: string, below = "", above: readonly string[] = []): FoundFiles {
  const own = realPath(path.join(folder, below));
  if (above.includes(own)) return lost(below, "the link leads to a folder that contains it", false);
  let names: readonly string[];
  try {
    names = readdirSync(path.join(folder, below));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return { files: [], leftOut: [] };
    return lost(below === "" ? "." : below, `the folder cannot be read (${errorCode(error)})`);
  }
  const found = names.map((name) => entryOf(folder, path.join(below, name), [...above, own]));
  return { files: found.flatMap(({ files }) => files), leftOut: found.flatMap(({ leftOut }) => leftOut) };
}

function entryOf(folder: string, relative: string, above: readonly string[]): FoundFiles {
  const place = path.join(folder, relative);
  const stats = statsOf(place);
  if (typeof stats === "string") return lost(relative, `it cannot be read (${stats})`);
  if (stats?.isDirectory() === true) return filesBelow(folder, relative, above);
  if (stats?.isFile() === true) {
    const refused = readRefusal(place);
    return refused === undefined
      ? { files: [localFile(relative, stats.size)], leftOut: [] }
      : lost(relative, `it cannot be read (${refused})`);
  }
  if (stats !== undefined) return lost(relative, "it is no file: a socket, a pipe or a device", false);
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink) return lost(relative, "the link leads to nothing", false);
  return relative.includes("\ufffd") ? lost(relative, "its name is not UTF-8") : { files: [], leftOut: [] };
}

/** Undefined where there is nothing, such as behind a link in a circle; the code of why it cannot be looked at. */
function statsOf(place: string): Stats | string | undefined {
  try {
    return statSync(place, { throwIfNoEntry: false });
  } catch (error) {
    const code = String(errorCode(error));
    return code === "ELOOP" || code === "ENAMETOOLONG" ? undefined : code;
  }
}

function readRefusal(place: string): string | undefined {
  try {
    accessSync(place, constants.R_OK);
    return undefined;
  } catch (error) {
    return String(errorCode(error));
  }
}

function lost(relative: string, why: string, isLoss = true): FoundFiles {
  return { files: [], leftOut: [{ path: relative, why, isLoss }] };
}

function localFile(relative: string, sizeBytes: number): CarriedFile {
  const stored = storedName(relative);
  return { path: relative, ...(stored !== relative && { stored }), sizeBytes };
}

/**
 * Gives the files a second name (a hard link) in another folder, so that the program may remove or replace them while they are uploaded.
 * They take no room of their own until it does.
 */
export function holdFiles(folder: string, files: readonly CarriedFile[], hold: string): void {
  rmSync(hold, { recursive: true, force: true });
  for (const file of files) {
    const [from, to] = [path.join(folder, file.path), path.join(hold, file.path)];
    mkdirSync(path.dirname(to), { recursive: true });
    try {
      // The link of a link would lead elsewhere from there.
      linkSync(realpathSync(from), to);
    } catch (error) {
      // The folder is on another file system, or its file system has no links.
      if (errorCode(error) !== "EXDEV" && errorCode(error) !== "EPERM") throw error;
      copyFileSync(from, to);
    }
  }
}
