import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createUnzip } from "node:zlib";
import type { FileSystem } from "../../hdfs/file-system.ts";
import { ByteReader } from "./byte-reader.ts";
import { LogFormatError, namingDamage } from "./errors.ts";
import { readChunks, readText, readVLong } from "./primitives.ts";

/** The end of every file: offset of the meta index (8 bytes), version (2 + 2), magic (16). */
const tailBytes = 28;
/** BCFile.Magic.AB_MAGIC_BCFILE */
const magic = Buffer.from("d111d36891b5d7b639df414092bae150", "hex");
/** BCFile.API_VERSION; readers take any minor of the same major. */
const majorVersion = 1;

/** Blocks of aggregated logs hold 256 KiB each (org.apache.hadoop.yarn.logaggregation.AggregatedLogFormat.LogWriter): 256 GiB of one node. */
const mostBlocks = 1_000_000;
const mostMetaBlocks = 100;

interface Block {
  readonly compression: string;
  readonly offset: number;
  readonly storedBytes: number;
}

/** A record: read `value` to its end, or not at all, before the next one is asked for. */
export interface TFileRecord {
  readonly key: Buffer;
  readonly value: ByteReader;
}

/**
 * The records of a TFile in their order, streamed: only the indexes at its end and the piece being read are in memory
 * (org.apache.hadoop.io.file.tfile.TFile over BCFile).
 *
 *   file   = data blocks, meta blocks, meta index, tail
 *   index  = count, then (name, compression, region) each; "data:BCFile.index" leads to the data blocks' regions
 *   region = offset, stored size, raw size
 *   block  = (key length, key, value as chunks) each, the whole compressed
 *
 * @throws LogFormatError for what is not such a file
 */
export function readTFile(fileSystem: FileSystem, path: string, lengthBytes: number): AsyncGenerator<TFileRecord> {
  return namingDamage(path, readRecords(fileSystem, path, lengthBytes));
}

async function* readRecords(fileSystem: FileSystem, path: string, lengthBytes: number): AsyncGenerator<TFileRecord> {
  for (const block of await readBlockIndex(fileSystem, path, lengthBytes)) {
    const source = await openBlock(fileSystem, path, block);
    // A record's value is read by the caller, outside of this function.
    const reader = new ByteReader(namingDamage(path, source));
    try {
      while (!(await reader.atEnd())) {
        const key = await reader.read(await readVLong(reader));
        const value = new ByteReader(readChunks(reader));
        yield { key, value };
        // What the caller left of the value lies before the next record.
        await value.skipRest();
      }
    } finally {
      source.destroy();
    }
  }
}

async function readBlockIndex(fileSystem: FileSystem, path: string, lengthBytes: number): Promise<Block[]> {
  if (lengthBytes < tailBytes) throw new LogFormatError(`${path} is too short for a TFile`);
  const tailOffset = lengthBytes - tailBytes;
  const tail = await new ByteReader(await fileSystem.open(path, { offset: tailOffset, lengthBytes: tailBytes })).read(
    tailBytes,
  );
  if (!tail.subarray(12).equals(magic)) throw new LogFormatError(`${path} is not a TFile`);
  if (tail.readUInt16BE(8) !== majorVersion)
    throw new LogFormatError(`${path} has version ${tail.readUInt16BE(8)} of TFile, not ${majorVersion}`);
  const metaOffset = Number(tail.readBigUInt64BE(0));
  if (metaOffset > tailOffset) throw new LogFormatError(`${path} is damaged: its index lies outside of it`);

  const meta = await fileSystem.open(path, { offset: metaOffset, lengthBytes: tailOffset - metaOffset });
  const index = await readMetaIndex(new ByteReader(meta), lengthBytes);
  const dataIndex = index.get("data:BCFile.index");
  if (dataIndex === undefined) throw new LogFormatError(`${path} is damaged: it has no index of its data`);
  const source = await openBlock(fileSystem, path, dataIndex);
  try {
    return await readDataIndex(new ByteReader(source), lengthBytes);
  } finally {
    source.destroy();
  }
}

async function readMetaIndex(reader: ByteReader, fileBytes: number): Promise<Map<string, Block>> {
  const blocks = new Map<string, Block>();
  for (let count = await readCount(reader, mostMetaBlocks); count > 0; count -= 1) {
    const name = await readText(reader);
    blocks.set(name, await readRegion(reader, await readText(reader), fileBytes));
  }
  return blocks;
}

async function readDataIndex(reader: ByteReader, fileBytes: number): Promise<Block[]> {
  const compression = await readText(reader);
  const blocks: Block[] = [];
  for (let count = await readCount(reader, mostBlocks); count > 0; count -= 1)
    blocks.push(await readRegion(reader, compression, fileBytes));
  return blocks;
}

/** The length of a list: the data that say it may be compressed a thousandfold. */
async function readCount(reader: ByteReader, most: number): Promise<number> {
  const count = await readVLong(reader);
  if (count > most) throw new LogFormatError(`an index of ${count} blocks is not possible: the most are ${most}`);
  return count;
}

async function readRegion(reader: ByteReader, compression: string, fileBytes: number): Promise<Block> {
  const offset = await readVLong(reader);
  const storedBytes = await readVLong(reader);
  await readVLong(reader);
  if (offset < 0 || storedBytes < 0 || offset + storedBytes > fileBytes) {
    throw new LogFormatError(`a block of ${storedBytes} bytes at ${offset} lies outside of it`);
  }
  return { compression, offset, storedBytes };
}

/** "gz" is Hadoop's DefaultCodec there, so zlib's format and not gzip's; unzip takes both. */
async function openBlock(fileSystem: FileSystem, path: string, block: Block): Promise<Readable> {
  const stored = await fileSystem.open(path, { offset: block.offset, lengthBytes: block.storedBytes });
  if (block.compression === "none") return stored;
  if (block.compression !== "gz") {
    stored.destroy();
    throw new LogFormatError(
      `${path} is compressed by ${block.compression}, which this reader does not know (none and gz)`,
    );
  }
  const unpacked = createUnzip();
  pipeline(stored, unpacked, () => undefined);
  return unpacked;
}
