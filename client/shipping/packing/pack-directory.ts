import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { UserError } from "../../../src/errors.ts";
import type { TreeEntry } from "./directory-tree.ts";
import { tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** Little slower than level 1, and a fifth smaller on Python packages. */
const compressionLevel = 4;

/**
 * Writes a folder as `.tar.gz`: the same tree gives the same bytes. Not a zip, because a NodeManager unpacks that without the files'
 * modes and links (org.apache.hadoop.fs.FileUtil.unZip reads it as a stream, where they are not), and tar by the system's `tar`.
 * @throws UserError when a file changes while it is read
 */
export async function packDirectory(tree: readonly TreeEntry[], archive: string): Promise<void> {
  await pipeline(
    Readable.from(tarBytes(tree), { objectMode: false }),
    createGzip({ level: compressionLevel }),
    createWriteStream(archive, { mode: 0o600 }),
  );
}

async function* tarBytes(tree: readonly TreeEntry[]): AsyncGenerator<Buffer> {
  for (const { entry, source } of tree) {
    yield tarHeader(entry);
    if (entry.type === "file") {
      yield* fileBytes(source, entry.sizeBytes);
      yield tarPadding(entry.sizeBytes);
    }
  }
  yield tarEnd;
}

async function* fileBytes(source: string, sizeBytes: number): AsyncGenerator<Buffer> {
  let readBytes = 0;
  if (sizeBytes > 0) {
    for await (const chunk of createReadStream(source, { end: sizeBytes - 1, highWaterMark: 1024 * 1024 })) {
      readBytes += chunk.length;
      yield chunk;
    }
  }
  if (readBytes !== sizeBytes) {
    throw new UserError(`${source} became shorter while it was packed: submit again when nothing writes there`, {
      code: "FILE_CHANGED",
    });
  }
}
