import path from "node:path";
import { buffer } from "node:stream/consumers";
import { FileSystemError, hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import { type NodeSnapshot, parseClusterNodes } from "../../src/job/cluster-nodes.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { checkedText, jobFileName, nodesFileName, type StoredJob } from "../../src/job/stored/stored-job.ts";
import type { Log } from "../../src/log.ts";
import { readUntilAnswered } from "./read-until-answered.ts";

/** What the staging folder has for every attempt. */
export interface JobThere {
  readonly job: JobFile;
  /** Empty with the local scheduler. */
  readonly nodes: readonly NodeSnapshot[];
}

/** After these, reading again does not help. */
const refusals = ["FILE_NOT_FOUND", "ACCESS_DENIED", "AUTHENTICATION_FAILED"] as const;

/**
 * The attempt's job and the cluster's nodes, from the staging folder. While the file system is away the read is repeated: ending would use up an
 * attempt, and the ResourceManager ends this one anyway when it does not register in time.
 * @throws TonyError with code `JOB_FILE_INVALID` when the files are not those that were submitted; FileSystemError when one is missing, or this
 * user may not read it
 */
export async function readJob(
  stored: StoredJob,
  fileSystems: Pick<FileSystems, "locate">,
  log: Log,
  pause: (delayMs: number) => Promise<void>,
): Promise<JobThere> {
  const { fileSystem, path: folder } = fileSystems.locate(stored.staging.stagingUrl);
  const textOf = async (name: string, sha256: string) => {
    const content = await buffer(await fileSystem.open(path.posix.join(folder, name)));
    return checkedText(content, sha256, `${stored.staging.stagingUrl}/${name}`);
  };
  const nodesText = async () =>
    stored.nodesSha256 === undefined ? undefined : await textOf(nodesFileName, stored.nodesSha256);
  const read = async (): Promise<JobThere> => {
    const [job, nodes] = await Promise.all([textOf(jobFileName, stored.sha256), nodesText()]);
    return { job: parseJobFile(job), nodes: nodes === undefined ? [] : parseClusterNodes(nodes) };
  };
  return readUntilAnswered(read, {
    mayPass: (error) => error instanceof FileSystemError && !hasCode(error, ...refusals),
    waits: (reason) => log.warn("job-unreadable", `${jobFileName} cannot be read yet: ${reason}`),
    pause,
  });
}
