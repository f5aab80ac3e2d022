import { sleep } from "../clock.ts";
import type { FileSystem } from "./file-system.ts";

const firstLookMs = 10;
const longestPauseMs = 250;

/** A file whose content is safe, though its writer may not have been told so yet. */
export interface ReadableFile {
  /** Resolves when the file system has closed the file, or has failed to: nothing is done to it after that. */
  readonly closed: Promise<void>;
}

/**
 * Makes a file that was not there before, and resolves as soon as others can read all of it. Over WebHDFS that is mostly 400 ms earlier than
 * its creation is confirmed where blocks have one replica, as its DataNode asks the NameNode to close the file before its own word of the
 * block has arrived there, and then sleeps before it asks again (org.apache.hadoop.hdfs.DFSOutputStream#completeFile). The NameNode counts
 * the last block of a file that is being written as soon as it knows of a whole replica (INodeFile#computeFileSize). The file may be renamed,
 * but its modification time still changes when it is closed, so it is nothing for a LocalResource.
 *
 * @throws FileSystemError as `create`
 */
export async function createReadable(
  fileSystem: Pick<FileSystem, "create" | "stat">,
  path: string,
  content: Uint8Array,
  permission: number,
): Promise<ReadableFile> {
  const looking = new AbortController();
  const created = fileSystem.create(path, content, { permission, overwrite: true });
  const stopLooking = () => looking.abort();
  const closed = created.then(stopLooking, stopLooking);
  await Promise.race([created, seesWhole(fileSystem, path, content.length, looking.signal)]);
  return { closed };
}

/** Looks until the file has its length, or `signal` fires. What cannot be seen is not there yet. */
async function seesWhole(
  fileSystem: Pick<FileSystem, "stat">,
  path: string,
  lengthBytes: number,
  signal: AbortSignal,
): Promise<void> {
  for (let pauseMs = firstLookMs; ; pauseMs = Math.min(pauseMs * 1.5, longestPauseMs)) {
    await sleep(pauseMs, signal);
    if (signal.aborted) return;
    const found = await fileSystem.stat(path).catch(() => undefined);
    if (found?.lengthBytes === lengthBytes) return;
  }
}
