import { pipeline, type Readable } from "node:stream";
import { createUnzip } from "node:zlib";
import type { FileSystem } from "../../hdfs/file-system.ts";
import type { ContainerId } from "../records.ts";
import { LogFormatError } from "./errors.ts";

/** What one NodeManager uploaded; with rolling aggregation a node has several. */
export interface NodeLogFile {
  readonly fileSystem: FileSystem;
  readonly path: string;
  /** `host_port`, as it names its file. */
  readonly node: string;
  /** How much of it is complete. */
  readonly lengthBytes: number;
  readonly modificationTimeMs: number;
}

/** One file of one container. */
export interface AggregatedLog {
  readonly containerId: ContainerId;
  /** `stdout`, `am.log` */
  readonly name: string;
  readonly lengthBytes: number;
  readonly node: string;
  /** Its bytes, once, before the next log is asked for; what is not read is passed over. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** The bytes of a file from an offset on, which must all be there. */
export async function readPart(
  { fileSystem, path }: NodeLogFile,
  offset: number,
  lengthBytes: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await fileSystem.open(path, { offset, lengthBytes })) pieces.push(piece);
  return Buffer.concat(pieces);
}

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
