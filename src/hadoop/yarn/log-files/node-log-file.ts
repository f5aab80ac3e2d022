import { pipeline, type Readable } from "node:stream";
import { createUnzip } from "node:zlib";
import type { FileSystem } from "../../hdfs/file-system.ts";
import type { ContainerId } from "../records.ts";
import { LogFormatError } from "./errors.ts";

/** A file that a NodeManager uploaded; with rolling aggregation a node has several. */
export interface NodeLogFile {
  readonly fileSystem: FileSystem;
  readonly path: string;
  /** `host_port`, the name of the file. */
  readonly node: string;
  /** How much of the file is complete. */
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
  /** The log's bytes, readable once, before the next log is requested; unread ones are skipped. */
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

/** A range of a file, compressed as `yarn.nodemanager.log-aggregation.compression-type` says. */
export interface StoredPart {
  readonly compression: string;
  readonly offset: number;
  readonly storedBytes: number;
}

/** The decompressed bytes. "gz" is Hadoop's DefaultCodec there, which writes zlib's format and not gzip's; unzip accepts both. */
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
