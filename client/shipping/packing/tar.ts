/** An entry of a tar archive; paths are relative, with `/` between their parts. */
export type TarEntry = {
  readonly path: string;
  /** The nine permission bits. */
  readonly mode: number;
  readonly modificationTimeSeconds: number;
} & (
  | { readonly type: "directory" }
  | { readonly type: "symlink"; readonly target: string }
  | { readonly type: "file"; readonly sizeBytes: number }
);

const blockBytes = 512;
const typeFlags = { file: "0", symlink: "2", directory: "5" } as const;
/** Eleven octal digits. */
const maximumHeaderSize = 8 ** 11 - 1;

/**
 * The header blocks of one entry: ustar (POSIX.1-2001 pax interchange format), preceded by a pax header for values that ustar's
 * fields cannot represent. The owner is always 0, without a name, so that the same tree gives the same bytes for every user.
 */
export function tarHeader(entry: TarEntry): Buffer {
  const path = entry.type === "directory" ? `${entry.path}/` : entry.path;
  const target = entry.type === "symlink" ? entry.target : "";
  const sizeBytes = entry.type === "file" ? entry.sizeBytes : 0;
  const records = [
    ...(fits(path) ? [] : [paxRecord("path", path)]),
    ...(fits(target) ? [] : [paxRecord("linkpath", target)]),
    ...(sizeBytes <= maximumHeaderSize ? [] : [paxRecord("size", String(sizeBytes))]),
  ];
  const header = ustarBlock({
    path,
    mode: entry.mode,
    sizeBytes: Math.min(sizeBytes, maximumHeaderSize),
    modificationTimeSeconds: entry.modificationTimeSeconds,
    typeFlag: typeFlags[entry.type],
    target,
  });
  if (records.length === 0) return header;
  const pax = Buffer.from(records.join(""), "utf8");
  const paxHeader = ustarBlock({
    path: "PaxHeader",
    mode: 0o644,
    sizeBytes: pax.length,
    modificationTimeSeconds: 0,
    typeFlag: "x",
    target: "",
  });
  return Buffer.concat([paxHeader, pax, tarPadding(pax.length), header]);
}

/** Zeros up to the next block boundary. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((blockBytes - (sizeBytes % blockBytes)) % blockBytes);
}

/** Two empty blocks end an archive. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

function fits(text: string): boolean {
  return /^[\x20-\x7e]{0,100}$/.test(text);
}

/** `<length> <key>=<value>\n`, where the length includes itself. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function ustarBlock(fields: {
  readonly path: string;
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modificationTimeSeconds: number;
  readonly typeFlag: string;
  readonly target: string;
}): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, offset: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  block.write(fields.path, 0, 100, "utf8");
  octal(fields.mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(fields.sizeBytes, 124, 12);
  octal(Math.max(0, fields.modificationTimeSeconds), 136, 12);
  block.write("        ", 148, "latin1");
  block.write(fields.typeFlag, 156, "latin1");
  block.write(fields.target, 157, 100, "utf8");
  block.write("ustar\x0000", 257, "latin1");
  const checksum = block.reduce((sum, byte) => sum + byte, 0);
  block.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}
