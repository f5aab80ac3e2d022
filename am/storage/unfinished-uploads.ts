import path from "node:path/posix";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { UNFINISHED } from "../../src/job/stored/carried-names.ts";

/**
 * Removes uploads that executors began and did not finish because their containers ended: those of results beside the tasks'
 * folders, those of checkpoints inside them. For a job whose tasks have ended.
 */
export async function removeUnfinishedUploads(
  { carrier, checkpointDir }: Pick<JobSpec, "carrier" | "checkpointDir">,
  applicationId: string,
  fileSystems: Pick<FileSystems, "locate">,
): Promise<void> {
  const jobsFolder = (folder: string) => fileSystems.locate(`${folder.replace(/\/+$/, "")}/${applicationId}`);
  if (carrier?.output !== undefined) await removeUnfinishedIn(jobsFolder(carrier.output.dir));
  if (carrier?.checkpoints === undefined || checkpointDir === undefined) return;
  const { fileSystem, path: folder } = jobsFolder(checkpointDir);
  for (const task of await listIfThere(fileSystem, folder)) {
    if (task.type === "DIRECTORY") await removeUnfinishedIn({ fileSystem, path: task.path });
  }
}

async function removeUnfinishedIn({ fileSystem, path: folder }: LocatedPath): Promise<void> {
  for (const entry of await listIfThere(fileSystem, folder)) {
    if (path.basename(entry.path).startsWith(UNFINISHED)) await fileSystem.delete(entry.path, { recursive: true });
  }
}
