import path from "node:path";
import { UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { type DeclaredFolder, type FolderKey, folderClashes, placeOf } from "../../src/job/build/folder-clashes.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { parseCarriedName } from "../../src/job/stored/carried-names.ts";

interface Place {
  readonly fileSystem: Pick<FileSystem, "uri" | "checkWritable" | "stat">;
  readonly path: string;
}

/** The part of FileSystems that is needed. */
export interface FolderLookUp {
  home(): Promise<Place>;
  locate(pathOrUri: string): Place;
}

/** Folders that are cleaned when a job has ended, or when nobody uses them. */
export interface CleanedFolders {
  /** The parent of the staging folders; it exists. */
  readonly root?: Place;
  /** As named in the settings. */
  readonly stagingDir?: string | undefined;
  readonly cacheDir?: string | undefined;
}

/** The parts of a job that are examined. */
type Folders = Pick<JobSpec, "checkpointDir" | "resumeFrom" | "history" | "carrier" | "search" | "sources">;

/**
 * The spec with addresses that mean the same on every machine for the folders of checkpoints, output and history. A relative path starts in the
 * user's home on the default file system.
 * @param cleaned folders in which nothing may be stored
 * @throws UserError (`FOLDER_UNREACHABLE`) when an executor could not write there
 */
export async function withFolderAddresses<Spec extends Folders>(
  spec: Spec,
  fileSystems: FolderLookUp,
  cleaned: CleanedFolders = {},
): Promise<Spec> {
  const { checkpointDir, resumeFrom, history, carrier, search } = spec;
  const carried = carrier?.checkpoints !== undefined;
  const placed = {
    ...spec,
    ...(checkpointDir !== undefined && {
      checkpointDir: await addressOf(checkpointDir, "tony.application.checkpoint-dir", carried),
    }),
    ...(resumeFrom !== undefined && {
      resumeFrom: await resumeAddress(resumeFrom, "tony.application.resume-from"),
    }),
    ...(history.location !== undefined && { history: await historyAddresses(history, history.location) }),
    ...(carrier?.output !== undefined && {
      carrier: {
        ...carrier,
        output: { ...carrier.output, dir: await addressOf(carrier.output.dir, "tony.output.dir", true) },
      },
    }),
    ...(search?.outputDir !== undefined && {
      search: { ...search, outputDir: await addressOf(search.outputDir, "tony.output.dir", true) },
    }),
  };
  const folders = addressesOf(placed);
  const [clash] = folderClashes(await placesOf(folders, fileSystems, cleaned), carried);
  if (clash !== undefined) throw refusal(folders.get(clash.key) ?? "", clash.key, `it ${clash.why}`);
  return placed;

  /** Of a site's history folders only the one for running jobs may be writable for everybody. */
  async function historyAddresses(settings: JobSpec["history"], location: string): Promise<JobSpec["history"]> {
    const { intermediate, finished } = settings;
    return {
      ...settings,
      location: await addressOf(location, "tony.history.location", false),
      intermediate:
        intermediate === undefined
          ? await addressOf(`${location}/intermediate`, "tony.history.location", true)
          : await addressOf(intermediate, "tony.history.intermediate", true),
      ...(finished !== undefined && { finished: await addressOf(finished, "tony.history.finished", false) }),
    };
  }

  /** A missing checkpoint would make the job start from nothing. A path that only a node can see is left to the program. */
  async function resumeAddress(checkpoint: string, key: string): Promise<string> {
    const address = await addressOf(checkpoint, key, false);
    const isPlain = checkpoint.startsWith("/");
    const isRead = isPlain ? carried && parseCarriedName(path.posix.basename(checkpoint)) !== undefined : true;
    if (isRead && (await isMissing(address, fileSystems))) {
      const words = `there is no ${address}: name the path of a checkpoint, or the job that saved one (--resume-from ID)`;
      throw refusal(checkpoint, key, words);
    }
    return address;
  }

  function refusal(folder: string, key: string, why: string, cause?: unknown): UserError {
    const at = spec.sources[key];
    const where = at === undefined ? "" : ` (${at})`;
    return new UserError(`${key} = ${folder}${where}: ${why}`, { code: "FOLDER_UNREACHABLE", cause });
  }

  /** A folder that executors do not write to is left to the program. */
  async function addressOf(folder: string, key: string, written: boolean): Promise<string> {
    const isPlain = folder.startsWith("/");
    if (!written && (isPlain || splitUri(folder) !== undefined)) return folder;
    try {
      requireNoShellWords(folder);
      const there = await locatedAt(folder, fileSystems);
      if (written) await checkCanBeMade(there.fileSystem, there.path);
      return isPlain ? folder : `${there.fileSystem.uri}${there.path}`;
    } catch (cause) {
      throw refusal(folder, key, errorMessage(cause), cause);
    }
  }
}

async function locatedAt(folder: string, fileSystems: FolderLookUp): Promise<Place> {
  if (folder.startsWith("/") || splitUri(folder) !== undefined) return fileSystems.locate(folder);
  const home = await fileSystems.home();
  return { ...home, path: `${home.path}/${folder}` };
}

/** Where a job stores what it keeps; paths that only its nodes can see are left out. */
function addressesOf({ checkpointDir, history, carrier, search }: Omit<Folders, "sources">): Map<FolderKey, string> {
  const isTheNodes = carrier?.checkpoints === undefined && checkpointDir?.startsWith("/") === true;
  const { location, intermediate, finished } = history;
  const addresses: readonly (readonly [FolderKey, string | undefined])[] = [
    ["tony.application.checkpoint-dir", isTheNodes ? undefined : checkpointDir],
    ["tony.output.dir", search?.outputDir ?? carrier?.output?.dir],
    ["tony.history.location", location],
    ["tony.history.intermediate", location && intermediate],
    ["tony.history.finished", location && finished],
  ];
  return new Map(addresses.flatMap(([key, address]) => (address === undefined ? [] : [[key, address]])));
}

/** The addresses in a form that can be compared. One on a file system that only the program can reach is left out. */
async function placesOf(
  addresses: ReadonlyMap<FolderKey, string>,
  fileSystems: FolderLookUp,
  { root, stagingDir, cacheDir }: CleanedFolders,
): Promise<DeclaredFolder[]> {
  const all = new Map<FolderKey, string | undefined>(addresses);
  all.set("tony.staging-dir", stagingDir).set("tony.cache.dir", cacheDir);
  const places: DeclaredFolder[] = [];
  for (const [key, address] of all) {
    const located = ifLocated(address, fileSystems);
    if (located === undefined) continue;
    const { fileSystem } = (await isSame(located, root)) && root !== undefined ? root : located;
    places.push({ key, place: placeOf(fileSystem.uri, located.path) });
  }
  return places;
}

function ifLocated(address: string | undefined, fileSystems: FolderLookUp): Place | undefined {
  try {
    return address === undefined ? undefined : fileSystems.locate(address);
  } catch {
    return undefined;
  }
}

/** Whether it is the same file system under another address, such as a NameNode's name and its number: a folder's time and owner tell. */
async function isSame({ fileSystem: one }: Place, root: Place | undefined): Promise<boolean> {
  const isLocal = one.uri.startsWith("file:") || root?.fileSystem.uri.startsWith("file:");
  if (root === undefined || isLocal || one.uri === root.fileSystem.uri) return false;
  const seen = await Promise.all([one, root.fileSystem].map((each) => each.stat(root.path).catch(() => undefined)));
  const [here, there] = seen;
  return here !== undefined && here.modificationTimeMs === there?.modificationTimeMs && here.owner === there.owner;
}

/** Folders with these literal names would be created, and `hdfs dfs -rm -r ~` removes a home. */
function requireNoShellWords(folder: string): void {
  const [, word] = /^(~|\$HOME|\$\{HOME\})(?:\/|$)/.exec(folder) ?? [];
  if (word === undefined) return;
  throw new UserError(
    `${word} means nothing here: leave it out, a path without a slash before it starts in your home`,
    {
      code: "FOLDER_NAME_INVALID",
    },
  );
}

/** The rule of org.apache.hadoop.hdfs.DFSUtilClient#isValidName. */
function requireName(folder: string): void {
  const wrong = folder.split("/").find((part) => part === "." || part === ".." || part.includes(":"));
  if (wrong === undefined) return;
  throw new UserError(`HDFS takes no folder named ${wrong}: name one without ".", ".." and colons`, {
    code: "FOLDER_NAME_INVALID",
  });
}

/** False where this machine cannot know. */
async function isMissing(address: string, fileSystems: FolderLookUp): Promise<boolean> {
  try {
    const { fileSystem, path: checkpoint } = fileSystems.locate(address);
    if (!fileSystem.uri.startsWith("file:")) await fileSystem.stat(checkpoint);
    return false;
  } catch (error) {
    return errorCode(error) === "FILE_NOT_FOUND";
  }
}

/**
 * Whether the submitter, as whom containers write, can write the folder, or create its missing part. Nothing is created here. When a
 * gateway does not answer, the check is left to the job.
 * @throws FileSystemError (`ACCESS_DENIED`, `NOT_A_DIRECTORY`), and the error for a host without an address; UserError
 * (`FOLDER_NAME_INVALID`)
 */
async function checkCanBeMade(fileSystem: Place["fileSystem"], folder: string): Promise<void> {
  const isTheNodes = fileSystem.uri.startsWith("file:");
  if (isTheNodes) return;
  requireName(folder);
  try {
    await fileSystem.checkWritable(folder);
  } catch (error) {
    const code = errorCode(error);
    if (code === "FILE_NOT_FOUND" && folder !== "/")
      return await checkCanBeMade(fileSystem, path.posix.dirname(folder));
    if (code === "ACCESS_DENIED") throw (await isFile(fileSystem, folder)) ? noFolder(folder) : error;
    if (code === "NOT_A_DIRECTORY" || /\bENOTFOUND\b/.test(errorMessage(error))) throw error;
  }
}

async function isFile(fileSystem: Place["fileSystem"], folder: string): Promise<boolean> {
  return await fileSystem.stat(folder).then(
    ({ type }) => type === "FILE",
    () => false,
  );
}

function noFolder(folder: string): UserError {
  return new UserError(`${folder} is a file: name another folder`, { code: "NOT_A_DIRECTORY" });
}
