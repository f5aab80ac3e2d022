import { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type FileSystems, splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import type { JobSpec } from "../../src/job/spec.ts";

type FolderLookUp = Pick<FileSystems, "home" | "locate">;

/**
 * The spec with addresses that mean the same on every machine for the folders where checkpoints, output and history stay. One that a person wrote
 * relative starts in the user's home on the default file system.
 * @throws UserError (`FOLDER_UNREACHABLE`) when an executor could not bring anything there
 */
export async function withFolderAddresses(spec: JobSpec, fileSystems: FolderLookUp): Promise<JobSpec> {
  const { checkpointDir, history, carrier } = spec;
  const carried = carrier?.checkpoints !== undefined;
  return {
    ...spec,
    ...(checkpointDir !== undefined && {
      checkpointDir: await addressOf(checkpointDir, "tony.application.checkpoint-dir", carried),
    }),
    ...(history.location !== undefined && {
      history: { ...history, location: await addressOf(history.location, "tony.history.location", true) },
    }),
    ...(carrier?.output !== undefined && {
      carrier: {
        ...carrier,
        output: { ...carrier.output, dir: await addressOf(carrier.output.dir, "tony.output.dir", true) },
      },
    }),
  };

  /** What executors do not write to is the program's business. */
  async function addressOf(folder: string, key: string, written: boolean): Promise<string> {
    if (folder.startsWith("/") || (splitUri(folder) !== undefined && !written)) return folder;
    try {
      const home = await fileSystems.home();
      const { fileSystem, path } =
        splitUri(folder) === undefined ? { ...home, path: `${home.path}/${folder}` } : fileSystems.locate(folder);
      return `${fileSystem.uri}${path}`;
    } catch (cause) {
      const at = spec.sources[key];
      const where = at === undefined ? "" : ` (${at})`;
      throw new UserError(`${key} = ${folder}${where}: ${errorMessage(cause)}`, { code: "FOLDER_UNREACHABLE", cause });
    }
  }
}
