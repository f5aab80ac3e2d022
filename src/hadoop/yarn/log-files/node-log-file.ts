import type { FileSystem } from "../../hdfs/file-system.ts";
import type { ContainerId } from "../records.ts";

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
