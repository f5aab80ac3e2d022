import { sleep } from "../clock.ts";
import type { FileSystem } from "./file-system.ts";

const firstLookMs = 10;
const longestPauseMs = 250;

/** A file whose content is stored safely, although its writer may not have been told so yet. */
export interface ReadableFile {
  /** Resolves when the file system has closed the file, or has failed to; after that nothing more is done to the file. */
  readonly closed: Promise<void>;
}

/**
 * Creates a file that did not exist, and resolves as soon as others can read all of it. Over WebHDFS that is usually 400 ms before the
 * creation is confirmed where blocks have one replica: the DataNode asks the NameNode to close the file before its own report of the block
 * has arrived there, and then sleeps before it asks again (org.apache.hadoop.hdfs.DFSOutputStream#completeFile). The NameNode counts the
 * last block of a file being written as soon as it knows of a complete replica (INodeFile#computeFileSize). The file may be renamed, but
 * its modification time still changes when it is closed, so it cannot serve as a LocalResource.
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

/** Polls until the file has its full length, or `signal` fires. A file that cannot be seen does not exist yet. */
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
