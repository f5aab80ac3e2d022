import path from "node:path";
import { UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import type { JobSpec } from "../../src/job/spec.ts";

interface Place {
  readonly fileSystem: Pick<FileSystem, "uri" | "checkWritable">;
  readonly path: string;
}

/** What is needed of FileSystems. */
interface FolderLookUp {
  home(): Promise<Place>;
  locate(pathOrUri: string): Place;
}

/**
 * The spec with addresses that mean the same on every machine for the folders where checkpoints, output and history stay. One that a person wrote
 * relative starts in the user's home on the default file system.
 * @throws UserError (`FOLDER_UNREACHABLE`) when an executor could bring nothing there
 */
export async function withFolderAddresses(spec: JobSpec, fileSystems: FolderLookUp): Promise<JobSpec> {
  const { checkpointDir, resumeFrom, history, carrier } = spec;
  const carried = carrier?.checkpoints !== undefined;
  return {
    ...spec,
    ...(checkpointDir !== undefined && {
      checkpointDir: await addressOf(checkpointDir, "tony.application.checkpoint-dir", carried),
    }),
    ...(resumeFrom !== undefined && {
      resumeFrom: await addressOf(resumeFrom, "tony.application.resume-from", false),
    }),
    ...(history.location !== undefined && { history: await historyAddresses(history, history.location) }),
    ...(carrier?.output !== undefined && {
      carrier: {
        ...carrier,
        output: { ...carrier.output, dir: await addressOf(carrier.output.dir, "tony.output.dir", true) },
      },
    }),
  };

  /** Of a site's folder only the one for running jobs may be everybody's to write to. */
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

  /** What executors do not write to is the program's business. */
  async function addressOf(folder: string, key: string, written: boolean): Promise<string> {
    const isPlain = folder.startsWith("/");
    if (!written && (isPlain || splitUri(folder) !== undefined)) return folder;
    try {
      const there = await placeOf(folder, fileSystems);
      if (written) await checkCanBeMade(there.fileSystem, there.path);
      return isPlain ? folder : `${there.fileSystem.uri}${there.path}`;
    } catch (cause) {
      const at = spec.sources[key];
      const where = at === undefined ? "" : ` (${at})`;
      throw new UserError(`${key} = ${folder}${where}: ${errorMessage(cause)}`, { code: "FOLDER_UNREACHABLE", cause });
    }
  }
}

async function placeOf(folder: string, fileSystems: FolderLookUp): Promise<Place> {
  if (folder.startsWith("/") || splitUri(folder) !== undefined) return fileSystems.locate(folder);
  const home = await fileSystems.home();
  return { ...home, path: `${home.path}/${folder}` };
}

/**
 * Whether the folder, or what of it is not there yet, can be written by who submits, which is as whom containers write. It is not made
 * here. What a gateway does not answer is left to the job.
 * @throws FileSystemError (`ACCESS_DENIED`, `NOT_A_DIRECTORY`)
 */
async function checkCanBeMade(fileSystem: Place["fileSystem"], folder: string): Promise<void> {
  const isTheNodes = fileSystem.uri.startsWith("file:");
  if (isTheNodes) return;
  try {
    await fileSystem.checkWritable(folder);
  } catch (error) {
    const code = errorCode(error);
    if (code === "FILE_NOT_FOUND" && folder !== "/")
      return await checkCanBeMade(fileSystem, path.posix.dirname(folder));
    if (code === "ACCESS_DENIED" || code === "NOT_A_DIRECTORY") throw error;
  }
}
