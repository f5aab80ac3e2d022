import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { latestOfJob } from "../../src/job/stored/stored-checkpoints.ts";

/** The part of FileSystems that is needed. */
export interface CheckpointLookUp {
  locate(pathOrUri: string): {
    readonly fileSystem: Pick<FileSystem, "uri" | "stat" | "list" | "open">;
    readonly path: string;
  };
}

/** A checkpoint that executors stored completely. */
export interface StoredCheckpoint {
  readonly address: string;
  readonly step: number;
  readonly atMs: number;
}

/** A job's latest checkpoint by the folder's content, where no status reported one. Undefined where there is none, or the folder cannot be read. */
export async function latestStored(
  applicationId: string,
  folder: string,
  fileSystems: CheckpointLookUp & { home(): Promise<ReturnType<CheckpointLookUp["locate"]>> },
): Promise<StoredCheckpoint | undefined> {
  try {
    const isRelative = !folder.startsWith("/") && splitUri(folder) === undefined;
    const home = isRelative ? await fileSystems.home() : undefined;
    const { fileSystem, path } =
      home === undefined ? fileSystems.locate(folder) : { ...home, path: `${home.path}/${folder}` };
    const found = await latestOfJob(fileSystem, `${path.replace(/\/+$/, "")}/${applicationId}`);
    if (found === undefined) return undefined;
    const { step, atMs } = found.manifest;
    return { address: `${fileSystem.uri}${found.path}`, step, atMs };
  } catch {
    return undefined;
  }
}
