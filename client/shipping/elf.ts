import { open } from "node:fs/promises";
import { errorCode } from "../../src/hadoop/errors.ts";
import { architectureOf } from "../../src/machine.ts";

/** What a Linux executable requires of its machine. */
export interface ElfRequirements {
  /** In the terms of `architectureOf`. */
  readonly architecture: string;
  /** The dynamic loader; absent in a static executable. */
  readonly interpreter?: string;
  /** Shared libraries by name: `libc.so.6`. */
  readonly libraries: readonly string[];
  /** Symbol versions that its libraries must have: `GLIBC_2.28`, `GLIBCXX_3.4.21`. */
  readonly symbolVersions: readonly string[];
}

const programHeader = { load: 1, dynamic: 2, interpreter: 3 } as const;
/** Tags of the dynamic section. */
const dynamicTag = {
  end: 0n,
  needed: 1n,
  stringTable: 5n,
  stringTableSize: 10n,
  versionNeeds: 0x6ffffffen,
  versionNeedCount: 0x6fffffffn,
};
/** No real table is larger; a damaged file must not make us read gigabytes. */
const maximumTableBytes = 16 * 1024 * 1024;

/** Errors for offsets outside the file and for tables that are too short: the file is damaged, so it is not an executable. */
const damage: ReadonlySet<unknown> = new Set(["ERR_OUT_OF_RANGE", "ERR_BUFFER_OUT_OF_BOUNDS"]);

/** An offset points outside the file. */
class OutOfFile extends Error {}

type Read = (offset: number, lengthBytes: number) => Promise<Buffer>;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly fileBytes: number;
}

/**
 * Reads the headers of a 64-bit little-endian ELF file (System V ABI; symbol versions as in glibc's `.gnu.version_r`). Reads only the
 * tables, not the whole file.
 * @returns undefined when the file is not such an executable
 */
export async function readElf(file: string): Promise<ElfRequirements | undefined> {
  const handle = await open(file);
  try {
    const read: Read = async (offset, lengthBytes) => {
      if (lengthBytes > maximumTableBytes) throw new OutOfFile();
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(lengthBytes), 0, lengthBytes, offset);
      if (bytesRead < lengthBytes) throw new OutOfFile();
      return buffer;
    };
    return await parseElf(read);
  } catch (error) {
    if (error instanceof OutOfFile || damage.has(errorCode(error))) return undefined;
    throw error;
  } finally {
    await handle.close();
  }
}

async function parseElf(read: Read): Promise<ElfRequirements | undefined> {
  const header = await read(0, 64);
  const architecture = architectureOf(header);
  if (architecture === undefined) return undefined;
  const segments = await readSegments(read, header);
  const interpreterAt = segments.find((segment) => segment.type === programHeader.interpreter);
  const interpreter = interpreterAt && cString(await read(interpreterAt.offset, interpreterAt.fileBytes), 0);
  return {
    architecture,
    ...(interpreter === undefined ? {} : { interpreter }),
    ...(await readDynamic(read, segments)),
  };
}

async function readSegments(read: Read, header: Buffer): Promise<Segment[]> {
  const entryBytes = header.readUInt16LE(54);
  const count = header.readUInt16LE(56);
  const table = await read(Number(header.readBigUInt64LE(32)), entryBytes * count);
  return Array.from({ length: count }, (_, index) => {
    const at = index * entryBytes;
    return {
      type: table.readUInt32LE(at),
      offset: Number(table.readBigUInt64LE(at + 8)),
      address: table.readBigUInt64LE(at + 16),
      fileBytes: Number(table.readBigUInt64LE(at + 32)),
    };
  });
}

async function readDynamic(
  read: Read,
  segments: readonly Segment[],
): Promise<Pick<ElfRequirements, "libraries" | "symbolVersions">> {
  const dynamic = segments.find((segment) => segment.type === programHeader.dynamic);
  if (dynamic === undefined) return { libraries: [], symbolVersions: [] };
  const table = await read(dynamic.offset, dynamic.fileBytes);
  const values = new Map<bigint, bigint[]>();
  for (let at = 0; at + 16 <= table.length; at += 16) {
    const tag = table.readBigInt64LE(at);
    if (tag === dynamicTag.end) break;
    values.set(tag, [...(values.get(tag) ?? []), table.readBigUInt64LE(at + 8)]);
  }
  const one = (tag: bigint) => values.get(tag)?.[0] ?? 0n;
  const strings = await read(
    fileOffset(segments, one(dynamicTag.stringTable)),
    Number(one(dynamicTag.stringTableSize)),
  );
  return {
    libraries: (values.get(dynamicTag.needed) ?? []).map((offset) => cString(strings, Number(offset))),
    symbolVersions: await readVersionNeeds(
      read,
      fileOffset(segments, one(dynamicTag.versionNeeds)),
      Number(one(dynamicTag.versionNeedCount)),
      strings,
    ),
  };
}

/** A chain of Verneed records (16 bytes), each with a chain of Vernaux records (16 bytes). */
async function readVersionNeeds(read: Read, start: number, count: number, strings: Buffer): Promise<string[]> {
  const versions: string[] = [];
  let at = start;
  for (let index = 0; index < count; index += 1) {
    const need = await read(at, 16);
    let auxiliaryAt = at + need.readUInt32LE(8);
    for (let auxiliary = need.readUInt16LE(2); auxiliary > 0; auxiliary -= 1) {
      const record = await read(auxiliaryAt, 16);
      versions.push(cString(strings, record.readUInt32LE(8)));
      auxiliaryAt += record.readUInt32LE(12);
    }
    at += need.readUInt32LE(12);
  }
  return versions;
}

/** The offset in the file of an address in the running program. */
function fileOffset(segments: readonly Segment[], address: bigint): number {
  const segment = segments.find(
    ({ type, address: start, fileBytes }) =>
      type === programHeader.load && address >= start && address < start + BigInt(fileBytes),
  );
  return segment === undefined ? 0 : segment.offset + Number(address - segment.address);
}

function cString(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(0, start);
  return bytes.toString("latin1", start, end < 0 ? bytes.length : end);
}
