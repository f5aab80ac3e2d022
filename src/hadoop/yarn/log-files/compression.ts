import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createUnzip } from "node:zlib";
import type { FileSystem } from "../../hdfs/file-system.ts";
import { LogFormatError } from "./errors.ts";

/** Bytes of a file, as `yarn.nodemanager.log-aggregation.compression-type` had them written. */
export interface StoredPart {
  readonly compression: string;
  readonly offset: number;
  readonly storedBytes: number;
}

/** Unpacked. "gz" is Hadoop's DefaultCodec there, so zlib's format and not gzip's; unzip takes both. */
export async function openPart(fileSystem: FileSystem, path: string, part: StoredPart): Promise<Readable> {
  const { compression, offset, storedBytes: lengthBytes } = part;
  if (compression !== "none" && compression !== "gz") {
    throw new LogFormatError(`${path} is compressed by ${compression}, which this reader does not know (none and gz)`);
  }
  const stored = await fileSystem.open(path, { offset, lengthBytes });
  if (compression === "none") return stored;
  const unpacked = createUnzip();
  pipeline(stored, unpacked, () => undefined);
  return unpacked;
}
