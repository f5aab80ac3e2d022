import { constants, type PathLike, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { access, copyFile, link, mkdir, readdir, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { TonyError } from "../../src/errors.ts";
import { nameOf, onDisk } from "../../src/file-names.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { CarriedFile, LeftOut } from "../../src/job/stored/carried-lists.ts";
import { keptBack } from "./kept-back.ts";
import { storedName } from "./stored-name.ts";

/** A file as it was when it was found. */
export interface FoundFile extends CarriedFile {
  readonly mtimeMs: number;
}

export interface FoundTree {
  readonly files: readonly FoundFile[];
  /** The empty ones. */
  readonly folders: readonly string[];
}

/** A folder whose content is uploaded. */
export interface LocalFolder {
  readonly folder: string;
  /** The container's working directory, which contains it. */
  readonly workFolder: string;
}

export interface FoundFiles extends FoundTree {
  readonly leftOut: readonly LeftOut[];
}

/** The most entries to visit behind one link: a link to a data set, or to the machine's own files, is no output. */
const MOST_BEHIND_A_LINK = 20_000;
/** How many files are examined at once. */
const LOOKS = 32;
/** The kernel's own file systems, whose links lead everywhere. */
const KERNELS = /^\/(proc|sys)(\/|$)/;
/** Checkpoints up to this size are copied when they are reported, in far less than a second. */
const COPIED_BYTES = 64 * 1_048_576;

/**
 * The path, relative to a folder, of a path that a program names; undefined for a URL, and for an absolute path to elsewhere. A program may name
 * it as seen from its working directory or from the folder itself, or by its real path.
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

/** `ckpt:5` is a file name; a slash after the colon makes it a URL. */
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
    return nameOf(realpathSync(onDisk(place), "buffer"));
  } catch {
    return place;
  }
}

/** Whether there is a file or folder of that name, or one whose name continues it. */
function hasCheckpoint(folder: string, name: string): boolean {
  const place = path.join(folder, name);
  try {
    if (statSync(onDisk(place), { throwIfNoEntry: false }) !== undefined) return true;
    return readdirSync(onDisk(path.dirname(place))).some((entry) => entry.startsWith(`${path.basename(name)}.`));
  } catch {
    return false;
  }
}

/**
 * The files of the checkpoint of that name: the file itself, everything in the folder, or, where there is neither, the files whose names
 * continue it with a dot, such as TensorFlow's `model-50.index`.
 * @throws TonyError (`CHECKPOINT_MISSING`) when there is nothing, (`CHECKPOINT_EMPTY`) when it is a folder without files,
 * (`CHECKPOINT_UNREADABLE`) when one of them cannot be uploaded, or its name is not UTF-8; the signal's reason
 */
export async function checkpointFiles(
  { folder, workFolder }: LocalFolder,
  name: string,
  signal: AbortSignal,
): Promise<FoundTree> {
  const place = path.join(folder, name);
  if (onDisk(name) !== name) {
    // Node cannot start a program with bytes in its environment that are not UTF-8.
    const why = "its name is not UTF-8, and TONY_CHECKPOINT could not name it: save it under another name";
    throw new TonyError(`${name} cannot be stored: ${why}`, { code: "CHECKPOINT_UNREADABLE" });
  }
  const stats = await statsOf(place);
  if (isStats(stats) && stats.isDirectory()) {
    const found = allOf(await filesBelow({ folder, workFolder }, signal, { below: name }));
    if (found.files.length > 0) return found;
    throw new TonyError(`${place} holds no file`, { code: "CHECKPOINT_EMPTY" });
  }
  const walk = new Walk({ folder, workFolder }, signal, 0);
  if (isStats(stats)) await walk.named(path.dirname(name), [path.basename(name)]);
  else {
    const names = await readdir(onDisk(path.dirname(place)), "buffer").catch(() => []);
    const belonging = names.map(nameOf).filter((entry) => entry.startsWith(`${path.basename(name)}.`));
    await walk.named(path.dirname(name), belonging);
  }
  const found = allOf(walk);
  if (found.files.length > 0) return found;
  throw new TonyError(`${place} does not exist`, { code: "CHECKPOINT_MISSING" });
}

function allOf({ files, folders, leftOut }: FoundFiles): FoundTree {
  const lost = leftOut.find(({ isLoss }) => isLoss);
  if (lost === undefined) return { files, folders };
  throw new TonyError(`${lost.path} cannot be stored: ${lost.why}`, { code: "CHECKPOINT_UNREADABLE" });
}

/**
 * All files and empty folders below a folder, including those behind links; none when there is no such folder. However many there are, the event
 * loop is not blocked. Throws the signal's reason, at once when it fires: a mount that does not answer blocks nothing else.
 */
export async function filesBelow(
  place: LocalFolder,
  signal: AbortSignal,
  {
    below = "",
    mostBehindALink = MOST_BEHIND_A_LINK,
  }: { readonly below?: string; readonly mostBehindALink?: number } = {},
): Promise<FoundFiles> {
  signal.throwIfAborted();
  const walk = new Walk(place, signal, mostBehindALink);
  let stop: () => void = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([walk.folder(below), stopped]);
    return walk;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Entries that may still be visited. */
interface Allowance {
  left: number;
}

/** The folders that contain this one, by their real paths, and its remaining allowance if it is behind a link. */
interface Way {
  readonly above: readonly string[];
  readonly allowance?: Allowance;
}

class Walk {
  readonly files: FoundFile[] = [];
  readonly folders: string[] = [];
  readonly leftOut: LeftOut[] = [];
  readonly #root: string;
  readonly #workFolder: Promise<string>;
  readonly #below: string;
  readonly #signal: AbortSignal;
  readonly #mostBehindALink: number;

  constructor({ folder, workFolder }: LocalFolder, signal: AbortSignal, mostBehindALink: number) {
    this.#root = folder;
    this.#workFolder = realPlace(workFolder);
    this.#below = path.relative(workFolder, folder);
    this.#signal = signal;
    this.#mostBehindALink = mostBehindALink;
  }

  /** These entries of a folder, without what is below them. */
  async named(below: string, names: readonly string[]): Promise<void> {
    const real = await realPlace(path.join(this.#root, below));
    for (const name of names) {
      const relative = path.join(below, name);
      if (await this.#isKeptBack(relative, real)) continue;
      const found = await this.#look(relative, false);
      if (found?.isDirectory() !== true) this.#take(relative, found);
    }
  }

  async folder(below: string, { above, allowance }: Way = { above: [] }): Promise<void> {
    const place = path.join(this.#root, below);
    const entries = await readdir(onDisk(place), { withFileTypes: true, encoding: "buffer" }).catch(
      (error: unknown) => {
        if (errorCode(error) !== "ENOENT") {
          this.#leaveOut(below === "" ? "." : below, `the folder cannot be read (${errorCode(error)})`);
        }
        return undefined;
      },
    );
    if (entries === undefined) return;
    const real = await realPlace(place);
    const workFolder = await this.#workFolder;
    const isElsewhere = real !== path.join(workFolder, this.#below, below);
    const kept = isElsewhere ? keptBack(real, workFolder) : undefined;
    if (kept !== undefined) return this.#leaveOut(below === "" ? "." : below, kept.why, kept.isLoss);
    // A link to a folder that contains it would lead back to the folder itself.
    if (above.includes(real)) return this.#leaveOut(below, "the link leads to a folder that contains it", false);
    if (entries.length === 0 && below !== "") this.folders.push(below);
    const way = { above: [...above, real], ...(allowance && { allowance }) };
    for (let next = 0; next < entries.length; next += LOOKS) {
      this.#signal.throwIfAborted();
      if (allowance !== undefined) allowance.left -= Math.min(LOOKS, entries.length - next);
      if (allowance !== undefined && allowance.left < 0) return;
      const looked = entries.slice(next, next + LOOKS).map(async (entry) => {
        const relative = path.join(below, nameOf(entry.name));
        const isLink = entry.isSymbolicLink();
        const isKept = (isLink || isElsewhere) && (await this.#isKeptBack(relative, real));
        return { relative, isLink, stats: isKept ? undefined : await this.#look(relative, isLink) };
      });
      for (const { relative, isLink, stats } of await Promise.all(looked)) {
        if (stats?.isDirectory() !== true) this.#take(relative, stats);
        else if (isLink) await this.#linked(relative, way);
        else await this.folder(relative, way);
      }
    }
  }

  /** By its own name, and by the name of its target. @param folder where it lies, without links */
  async #isKeptBack(relative: string, folder: string): Promise<boolean> {
    const workFolder = await this.#workFolder;
    const place = path.join(folder, path.basename(relative));
    const kept = keptBack(place, workFolder) ?? keptBack(await realPlace(place), workFolder);
    if (kept !== undefined) this.#leaveOut(relative, kept.why, kept.isLoss);
    return kept !== undefined;
  }

  async #linked(relative: string, { above, allowance }: Way): Promise<void> {
    if (allowance !== undefined) await this.folder(relative, { above, allowance });
    else await this.#bounded(relative, above);
  }

  /** Takes everything behind a link, or nothing of it. */
  async #bounded(relative: string, above: readonly string[]): Promise<void> {
    const [files, folders, leftOut] = [this.files.length, this.folders.length, this.leftOut.length];
    const allowance = { left: this.#mostBehindALink };
    await this.folder(relative, { above, allowance });
    if (allowance.left >= 0) return;
    this.files.length = files;
    this.folders.length = folders;
    this.leftOut.length = leftOut;
    this.#leaveOut(relative, `the link leads to a folder with more than ${this.#mostBehindALink} files`);
  }

  /** Undefined where the entry is not taken; the reason is recorded. */
  async #look(relative: string, isLink: boolean): Promise<Stats | undefined> {
    const place = path.join(this.#root, relative);
    const real = isLink ? await realPlace(place) : place;
    if (isLink && KERNELS.test(real)) {
      this.#leaveOut(relative, `the link leads to ${real}, where the kernel stores no files`, false);
      return undefined;
    }
    const stats = await statsOf(place, isLink);
    if (typeof stats === "string") this.#leaveOut(relative, `it cannot be read (${stats})`);
    else if (stats === undefined && isLink) this.#leaveOut(relative, "the link leads to nothing", false);
    if (!isStats(stats) || !stats.isFile()) return isStats(stats) ? stats : undefined;
    const refused = await access(onDisk(place), constants.R_OK).then(() => undefined, errorCode);
    if (refused === undefined) return stats;
    this.#leaveOut(relative, `it cannot be read (${refused})`);
    return undefined;
  }

  #take(relative: string, stats: Stats | undefined): void {
    if (stats?.isFile() === true) this.files.push(foundFile(relative, stats));
    else if (stats !== undefined) this.#leaveOut(relative, "it is a socket, a pipe or a device", false);
  }

  #leaveOut(relative: string, why: string, isLoss = true): void {
    this.leftOut.push({ path: relative, why, isLoss });
  }
}

function isStats(found: Stats | string | undefined): found is Stats {
  return typeof found === "object";
}

/**
 * Undefined where there is nothing, such as behind circular links, or for a name that is too long; the error code where it cannot be examined.
 */
async function statsOf(place: string, mayLeadNowhere = true): Promise<Stats | string | undefined> {
  try {
    return await stat(onDisk(place));
  } catch (error) {
    const code = String(errorCode(error));
    return NOTHING_THERE.has(code) && (mayLeadNowhere || code !== "ENAMETOOLONG") ? undefined : code;
  }
}

const NOTHING_THERE: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

async function realPlace(place: string): Promise<string> {
  return await realpath(onDisk(place), "buffer").then(nameOf, () => place);
}

function foundFile(relative: string, { size, mtimeMs, mode }: Stats): FoundFile {
  const stored = storedName(relative);
  const executable = (mode & constants.S_IXUSR) !== 0;
  return {
    path: relative,
    ...(stored !== relative && { stored }),
    sizeBytes: size,
    ...(executable && { executable }),
    mtimeMs,
  };
}

/**
 * Refuses a checkpoint of which a file was written to after its report: it may be half of the next one.
 * @param said the file with the report, as it was when that was read
 * @throws TonyError (`CHECKPOINT_REWRITTEN`)
 */
export async function requireWrittenBefore(
  said: Pick<Stats, "mtimeMs" | "dev">,
  folder: string,
  files: readonly FoundFile[],
): Promise<void> {
  for (const { path: name, mtimeMs } of files) {
    if (mtimeMs <= said.mtimeMs) continue;
    // Another file system may use another clock.
    const { dev } = await stat(onDisk(path.join(folder, name)));
    if (dev !== said.dev) continue;
    const mend = "report it when it is complete, and save each under a name of its own, or beside it and rename it";
    throw new TonyError(`${name} was written to after the checkpoint was reported: ${mend}`, {
      code: "CHECKPOINT_REWRITTEN",
    });
  }
}

/**
 * Keeps the files in another folder, each under a second name (a hard link), so that the program may remove or replace them during the upload.
 * Small ones are copied, so that it may also overwrite them; the others take no space of their own until the program removes them.
 * @returns the files as they are there
 * @throws TonyError (`FILE_CHANGED`) when one differs from what was found
 */
export async function holdFiles(
  folder: string,
  files: readonly FoundFile[],
  hold: string,
  signal: AbortSignal,
): Promise<readonly FoundFile[]> {
  const isSmall = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) <= COPIED_BYTES;
  const copy = `${hold}.copy`;
  await rm(hold, { recursive: true, force: true });
  const held: FoundFile[] = [];
  for (const file of files) {
    signal.throwIfAborted();
    const [from, to] = [onDisk(path.join(folder, file.path)), onDisk(path.join(hold, file.path))];
    await mkdir(onDisk(path.dirname(path.join(hold, file.path))), { recursive: true });
    // A hard link to a symbolic link would resolve differently there.
    const isLinked = await linked(await realpath(from, "buffer"), to);
    const kept = isLinked ? to : from;
    const isCopied = isSmall || !isLinked;
    if (isCopied) await copyFile(kept, copy);
    requireUnchanged(file, await stat(kept));
    if (isCopied) await rename(copy, to);
    held.push({ ...file, mtimeMs: (await stat(to)).mtimeMs });
  }
  return held;
}

/** False where hard links are impossible: the folder is on another file system, or its file system has none. */
async function linked(from: PathLike, to: PathLike): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === "EXDEV" || errorCode(error) === "EPERM") return false;
    throw error;
  }
}

/** @throws TonyError (`FILE_CHANGED`) when it was written to since it was found */
export function requireUnchanged(file: FoundFile, { size, mtimeMs }: Pick<Stats, "size" | "mtimeMs">): void {
  if (size === file.sizeBytes && mtimeMs === file.mtimeMs) return;
  throw new TonyError(`${file.path} was written to before it was uploaded`, { code: "FILE_CHANGED" });
}
