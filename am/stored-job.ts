import path from "node:path";
import { buffer } from "node:stream/consumers";
import { FileSystemError, hasCode } from "../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import type { JobFile } from "../src/job/job-file.ts";
import { parseJobFile } from "../src/job/parse-job-file.ts";
import { checkedJobText, jobFileName, type StoredJob } from "../src/job/stored-job.ts";
import type { Log } from "../src/log.ts";
import { readUntilAnswered } from "./read-until-answered.ts";

/** Reading again does not help. */
const refusals = ["FILE_NOT_FOUND", "ACCESS_DENIED", "AUTHENTICATION_FAILED"] as const;

/**
 * The attempt's job, from the staging folder. While the file system is away it is read again and again: ending would use
 * up an attempt, and the ResourceManager ends this one when it does not register in time.
 * @throws TonyError with code `JOB_FILE_INVALID` when what is there is not what was submitted; FileSystemError when it is missing, or this
 * user may not read it
 */
export async function readJob(
  stored: StoredJob,
  fileSystems: Pick<FileSystems, "locate">,
  log: Log,
  pause: (delayMs: number) => Promise<void>,
): Promise<JobFile> {
  const { fileSystem, path: folder } = fileSystems.locate(stored.staging.stagingUrl);
  const read = async (): Promise<JobFile> => {
    const content = await buffer(await fileSystem.open(path.posix.join(folder, jobFileName)));
    return parseJobFile(checkedJobText(content, stored));
  };
  return readUntilAnswered(read, {
    mayPass: (error) => error instanceof FileSystemError && !hasCode(error, ...refusals),
    waits: (reason) => log.warn("job-unreadable", `${jobFileName} cannot be read yet: ${reason}`),
    pause,
  });
}
