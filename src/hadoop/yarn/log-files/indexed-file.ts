import { createHash } from "node:crypto";
import { basename, dirname } from "node:path/posix";
import type { ContainerId } from "../records.ts";
import { LogFormatError, namingDamage } from "./errors.ts";
import { readJavaObjects } from "./java-objects.ts";
import { type AggregatedLog, type NodeLogFile, openPart, readPart } from "./node-log-file.ts";

/**
 * An indexed file (org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController):
 *
 *   file   = mark, then for each upload: the logs, index of all uploads so far, length of the index (4 bytes), mark
 *   mark   = SHA-256 of the application's id; a UUID as text in files of the class's first version, which no Apache release contains
 *   index  = IndexedLogsMeta, written by Java's ObjectOutputStream
 *
 * Each log is compressed separately, so that it can be read without the others.
 */
const lengthBytes = 4;
const hashBytes = 32;
const uuidBytes = 36;

/** How many bytes at a file's end tell where its index is. */
export const indexedTailBytes = lengthBytes + uuidBytes;

/** The size at which Hadoop's own reader begins to warn. */
const largestIndexBytes = 64 * 1024 * 1024;

/** Where an index lies in its file. */
interface IndexPlace {
  readonly offset: number;
  readonly bytes: number;
}

interface IndexedLog {
  readonly containerId: ContainerId;
  readonly name: string;
  readonly lengthBytes: number;
  readonly storedBytes: number;
  readonly offset: number;
}

/** The location of the index, if the bytes are the end of that application's indexed file and its upload is complete. */
export function findIndex(file: NodeLogFile, tail: Buffer): IndexPlace | undefined {
  const markBytes = markAtEnd(tail, applicationOf(file));
  if (markBytes === undefined || tail.length < markBytes + lengthBytes) return undefined;
  const bytes = tail.readUInt32BE(tail.length - markBytes - lengthBytes);
  return { offset: file.lengthBytes - markBytes - lengthBytes - bytes, bytes };
}

/** Whether an upload into the file has begun. */
export async function isIndexedFile(file: NodeLogFile): Promise<boolean> {
  const head = await readPart(file, 0, Math.min(uuidBytes, file.lengthBytes));
  return markAtEnd(head.subarray(0, hashBytes), applicationOf(file)) === hashBytes || isUuid(head);
}

/** The logs of an indexed file: one upload after the other, and within each a container's logs sorted by name, as in TFiles. */
export async function* indexedLogs(
  file: NodeLogFile,
  place: IndexPlace,
  wanted: (containerId: ContainerId) => boolean,
): AsyncGenerator<AggregatedLog> {
  const { fileSystem, path, node } = file;
  const { logs, compression } = await readIndex(file, place, wanted);
  for (const { offset, storedBytes, ...log } of logs) {
    const sizes = [offset, storedBytes, log.lengthBytes];
    if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 0) || offset + storedBytes > file.lengthBytes)
      throw new LogFormatError(`${path} is damaged: ${log.name} of ${log.containerId} lies outside of it`);
    const open = () => openPart(fileSystem, path, { compression, offset, storedBytes });
    yield { ...log, node, content: storedBytes === 0 ? nothing() : namingDamage(path, upTo(log.lengthBytes, open)) };
  }
}

async function readIndex(
  file: NodeLogFile,
  { offset, bytes }: IndexPlace,
  wanted: (containerId: ContainerId) => boolean,
): Promise<{ readonly logs: readonly IndexedLog[]; readonly compression: string }> {
  if (offset < 0) throw new LogFormatError(`${file.path} is damaged: its index lies outside of it`);
  if (bytes > largestIndexBytes)
    throw new LogFormatError(
      `${file.path} has an index of ${bytes} bytes; more than ${largestIndexBytes} are not read`,
    );
  const logs: IndexedLog[] = [];
  let upload: IndexedLog[] = [];
  let compression = "none";
  readJavaObjects(await readPart(file, offset, bytes), ({ className, fields }) => {
    const text = (name: string) => String(fields.get(name) ?? "");
    const size = (name: string) => Number(fields.get(name));
    switch (className.slice(className.lastIndexOf("$") + 1)) {
      case "IndexedFileLogMeta":
        if (!wanted(text("containerId"))) return;
        upload.push({
          containerId: text("containerId"),
          name: text("fileName"),
          lengthBytes: size("fileSize"),
          storedBytes: size("fileCompressedSize"),
          offset: size("startIndex"),
        });
        return;
      case "IndexedPerAggregationLogMeta":
        logs.push(...upload.sort(byContainerAndName));
        upload = [];
        return;
      case "IndexedLogsMeta":
        compression = text("compressName");
    }
  });
  return { logs, compression };
}

/** Java orders names by their UTF-16 code units, as JavaScript does. */
function byContainerAndName(one: IndexedLog, other: IndexedLog): number {
  if (one.containerId !== other.containerId) return one.containerId < other.containerId ? -1 : 1;
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}

/** How many bytes at the end are the mark; undefined where they are none. */
function markAtEnd(bytes: Buffer, applicationId: string): number | undefined {
  const hash = createHash("sha256").update(applicationId).digest();
  if (bytes.subarray(-hashBytes).equals(hash)) return hashBytes;
  return isUuid(bytes.subarray(-uuidBytes)) ? uuidBytes : undefined;
}

function isUuid(bytes: Buffer): boolean {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(bytes.toString("latin1"));
}

function applicationOf({ path }: NodeLogFile): string {
  return basename(dirname(path));
}

/** The content of a log that could not be read while it was stored may be shorter than recorded, or be replaced by the reason. */
async function* upTo(mostBytes: number, open: () => Promise<AsyncIterable<Uint8Array>>): AsyncGenerator<Uint8Array> {
  let left = mostBytes;
  for await (const piece of await open()) {
    if (left <= 0) return;
    yield piece.subarray(0, left);
    left -= piece.byteLength;
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** An upload in progress: the file that it writes to, and how much of it was complete before. */
export interface OpenUpload {
  readonly name: string;
  readonly completeBytes: number;
}

const uploadSuffix = "-checksum";

/** Whether a file beside indexed files announces an upload in progress; it is removed when the upload ends. */
export function tellsOfUpload(path: string): boolean {
  return path.endsWith(uploadSuffix);
}

/** The content of such a file: the name of the other file and the length; only the length in the class's first version. */
export async function readOpenUpload(file: NodeLogFile): Promise<OpenUpload> {
  const bytes = await readPart(file, 0, Math.min(file.lengthBytes, 1024));
  const name = basename(file.path).slice(0, -uploadSuffix.length);
  if (bytes.length === 8) return { name, completeBytes: Number(bytes.readBigInt64BE()) };
  const nameBytes = bytes.length < lengthBytes ? 0 : bytes.readUInt32BE();
  // A file that is still being written announces an upload that has completed nothing yet.
  if (bytes.length !== lengthBytes + nameBytes + 8) return { name, completeBytes: 0 };
  return {
    name: bytes.toString("utf8", lengthBytes, lengthBytes + nameBytes),
    completeBytes: Number(bytes.readBigInt64BE(lengthBytes + nameBytes)),
  };
}
