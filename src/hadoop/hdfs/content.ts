import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import type { Content, FileSystem } from "./file-system.ts";

/** Large enough that a transfer is bound by the network, small enough not to burden an ApplicationMaster. */
const chunkBytes = 1024 * 1024;

/** The length, when it is known before the stream ends. */
export function contentLengthBytes(content: Content): number | undefined {
  return content instanceof Uint8Array ? content.byteLength : content.lengthBytes;
}

/** A new stream of the content, from its start. */
export function openContent(content: Content): Readable {
  return content instanceof Uint8Array ? Readable.from(chunksOf(content), { objectMode: false }) : content.open();
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

/** A local file. @param lengthBytes as its status says; a file that changes while it is sent fails the transfer */
export function localFileContent(path: string, lengthBytes: number): Content {
  return { lengthBytes, open: () => createReadStream(path, { highWaterMark: chunkBytes }) };
}

/** Reads a file that others may have written, up to that many bytes; undefined if it is longer. Rejects as the file system does. */
export async function contentUpTo(
  fileSystem: Pick<FileSystem, "open">,
  file: string,
  mostBytes: number,
): Promise<Buffer | undefined> {
  const stream = await fileSystem.open(file, { lengthBytes: mostBytes + 1 });
  // For many small files node:stream/consumers, which goes through a Blob, takes a fifth of the whole time.
  const content = Buffer.concat(await stream.toArray());
  return content.length > mostBytes ? undefined : content;
}
