import { crc32 } from "node:zlib";

/** An entry as Info-ZIP's `zip -y` records it. */
export interface ZipMember {
  readonly path: string;
  /** With the type bits: 0o100755 for a program, 0o120777 for a symbolic link. */
  readonly mode: number;
  /** For a link its target. */
  readonly content?: string;
}

/** A zip as it is made on unix, with its entries stored uncompressed (PKWARE APPNOTE 6.3). */
export function writeZip(members: readonly ZipMember[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, mode, content = "" } of members) {
    const name = Buffer.from(path);
    const data = Buffer.from(content);
    // What both headers contain from "version needed" to the length of the extra field; 1980-01-01.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, name, data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from("PK\x01\x02\x14\x03", "latin1"), common, rest, name);
    locals.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, central, end]);
}
