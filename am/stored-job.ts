import path from "node:path";
import { buffer } from "node:stream/consumers";
import { errorMessage } from "../src/hadoop/errors.ts";
import { FileSystemError, hasCode } from "../src/hadoop/hdfs/errors.ts";
import type { FileSystems } from "../src/hadoop/hdfs/file-systems.ts";
import type { JobFile } from "../src/job/job-file.ts";
import { parseJobFile } from "../src/job/parse-job-file.ts";
import { checkedJobText, jobFileName, type StoredJob } from "../src/job/stored-job.ts";
import type { Log } from "../src/log.ts";

const readAgainMs = 3_000;
/** Asking again does not help. */
const refusals = ["FILE_NOT_FOUND", "ACCESS_DENIED", "AUTHENTICATION_FAILED"] as const;

/**
 * The attempt's job, from the staging folder. A file system that is away is asked again until it is back: an attempt that ended would be
 * one fewer, and the ResourceManager ends it by itself when it does not register in time.
 * @throws TonyError with code `JOB_FILE_INVALID` when what is there is not what was submitted; FileSystemError when there is none, or none that
 * this user may read
 */
export async function readJob(
  stored: StoredJob,
  fileSystems: Pick<FileSystems, "locate">,
  log: Log,
  pause: (delayMs: number) => Promise<void>,
): Promise<JobFile> {
  const { fileSystem, path: folder } = fileSystems.locate(stored.staging.stagingUrl);
  for (;;) {
    try {
      const content = await buffer(await fileSystem.open(path.posix.join(folder, jobFileName)));
      return parseJobFile(checkedJobText(content, stored));
    } catch (error) {
      if (!(error instanceof FileSystemError) || hasCode(error, ...refusals)) throw error;
      log.warn("job-unreadable", `${jobFileName} cannot be read yet: ${errorMessage(error)}`);
      await pause(readAgainMs);
    }
  }
}
