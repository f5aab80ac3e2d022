import type { FileSystem } from "../../hdfs/file-system.ts";
import { ByteReader, readChunks, readText, readVLong } from "./byte-reader.ts";
import { LogFormatError, namingDamage } from "./errors.ts";
import { type NodeLogFile, openPart, type StoredPart } from "./node-log-file.ts";

/** The end of every file: offset of the meta index (8 bytes), version (2 + 2), magic (16). */
export const tfileTailBytes = 28;
/** BCFile.Magic.AB_MAGIC_BCFILE */
const magic = Buffer.from("d111d36891b5d7b639df414092bae150", "hex");
/** BCFile.API_VERSION; readers take any minor of the same major. */
const majorVersion = 1;

/**
 * Blocks of aggregated logs contain 256 KiB each (org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogWriter): 256 GiB for one
 * node.
 */
const mostBlocks = 1_000_000;
const mostMetaBlocks = 100;

/** A file's index entry for one of its blocks (org.apache.hadoop.io.file.tfile.TFile.TFileIndexEntry). */
interface BlockContent {
  readonly lastKey: Buffer;
  readonly records: number;
}

/** A record: read as much of `value` as you need before you request the next one. */
export interface TFileRecord {
  readonly key: Buffer;
  readonly value: ByteReader;
}

/**
 * The records of a TFile in order, streamed: only the indexes at its end and the piece being read are in memory
 * (org.apache.hadoop.io.file.tfile.TFile over BCFile).
 *
 *   file   = data blocks, meta blocks, meta index, tail
 *   index  = count, then (name, compression, region) each; "data:BCFile.index" leads to the data blocks' regions
 *   region = offset, stored size, raw size
 *   block  = (key length, key, value as chunks) each, the whole compressed
 *   "data:TFile.index" = size and first key, then (size, last key of a block, number of its records) each
 *
 * A block contains the records that begin in its first 256 KiB, so a large record has a block of its own or ends one. Unwanted records are
 * therefore skipped without being decompressed.
 *
 * @param tail the file's last bytes, which `isTFile` has checked
 * @param wanted selects records by key; some others may be yielded too
 * @throws LogFormatError if the file is corrupt
 */
export async function* readTFile(
  { fileSystem, path, lengthBytes }: NodeLogFile,
  tail: Buffer,
  wanted: (key: Buffer) => boolean = () => true,
): AsyncGenerator<TFileRecord> {
  const index = await readIndex(fileSystem, path, lengthBytes, tail.subarray(-tfileTailBytes));
  for (const [at, block] of index.blocks.entries()) {
    const content = index.contents[at];
    if (content?.records === 1 && !wanted(content.lastKey)) continue;
    let left = content?.records ?? Number.POSITIVE_INFINITY;
    const source = await openPart(fileSystem, path, block);
    // The caller reads a record's value, outside this function.
    const reader = new ByteReader(namingDamage(path, source));
    try {
      while (left > 0 && !(await reader.atEnd())) {
        const key = await reader.read(await readVLong(reader));
        const value = new ByteReader(readChunks(reader));
        yield { key, value };
        left -= 1;
        // Unread bytes of the value precede the next record.
        if (left > 0) await value.skipRest();
      }
    } finally {
      source.destroy();
    }
  }
}

/** Whether a file is a TFile, judged by its last bytes. */
export function isTFile(tail: Buffer): boolean {
  return tail.length >= tfileTailBytes && tail.subarray(-magic.length).equals(magic);
}

async function readIndex(
  fileSystem: FileSystem,
  path: string,
  lengthBytes: number,
  tail: Buffer,
): Promise<{ readonly blocks: readonly StoredPart[]; readonly contents: readonly BlockContent[] }> {
  if (tail.readUInt16BE(8) !== majorVersion)
    throw new LogFormatError(`${path} has version ${tail.readUInt16BE(8)} of TFile, not ${majorVersion}`);
  const tailOffset = lengthBytes - tfileTailBytes;
  const metaOffset = Number(tail.readBigUInt64BE(0));
  if (metaOffset > tailOffset) throw new LogFormatError(`${path} is damaged: its index lies outside of it`);

  const part = async <T>(stored: StoredPart, read: (reader: ByteReader) => Promise<T>): Promise<T> => {
    const source = await openPart(fileSystem, path, stored);
    try {
      return await read(new ByteReader(source));
    } finally {
      source.destroy();
    }
  };
  const meta = { compression: "none", offset: metaOffset, storedBytes: tailOffset - metaOffset };
  const index = await part(meta, (reader) => readMetaIndex(reader, lengthBytes));
  const dataIndex = index.get("data:BCFile.index");
  if (dataIndex === undefined) throw new LogFormatError(`${path} is damaged: it has no index of its data`);
  const blocks = await part(dataIndex, (reader) => readDataIndex(reader, lengthBytes));
  const contentIndex = index.get("data:TFile.index");
  const contents = contentIndex && (await part(contentIndex, (reader) => readContents(reader, blocks.length)));
  return { blocks, contents: contents ?? [] };
}

async function readContents(reader: ByteReader, blocks: number): Promise<BlockContent[]> {
  const firstBytes = await readVLong(reader);
  // A file without records has no first key, and nothing after it.
  if (firstBytes === 0) return [];
  await reader.skip(firstBytes);
  const contents: BlockContent[] = [];
  while (contents.length < blocks) {
    await readVLong(reader);
    const lastKey = await reader.read(await readVLong(reader));
    const records = await readVLong(reader);
    if (records < 1) throw new LogFormatError(`a block of ${records} records is not possible`);
    contents.push({ lastKey, records });
  }
  return contents;
}

async function readMetaIndex(reader: ByteReader, fileBytes: number): Promise<Map<string, StoredPart>> {
  const blocks = new Map<string, StoredPart>();
  for (let count = await readCount(reader, mostMetaBlocks); count > 0; count -= 1) {
    const name = await readText(reader);
    blocks.set(name, await readRegion(reader, await readText(reader), fileBytes));
  }
  return blocks;
}

async function readDataIndex(reader: ByteReader, fileBytes: number): Promise<StoredPart[]> {
  const compression = await readText(reader);
  const blocks: StoredPart[] = [];
  for (let count = await readCount(reader, mostBlocks); count > 0; count -= 1)
    blocks.push(await readRegion(reader, compression, fileBytes));
  return blocks;
}

/** The length of a list, bounded because the data that states it may be compressed a thousandfold. */
async function readCount(reader: ByteReader, most: number): Promise<number> {
  const count = await readVLong(reader);
  if (count > most) throw new LogFormatError(`an index of ${count} blocks is not possible: the most are ${most}`);
  return count;
}

async function readRegion(reader: ByteReader, compression: string, fileBytes: number): Promise<StoredPart> {
  const offset = await readVLong(reader);
  const storedBytes = await readVLong(reader);
  await readVLong(reader);
  if (offset < 0 || storedBytes < 0 || offset + storedBytes > fileBytes) {
    throw new LogFormatError(`a block of ${storedBytes} bytes at ${offset} lies outside of it`);
  }
  return { compression, offset, storedBytes };
}
