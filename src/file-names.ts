import { isUtf8 } from "node:buffer";

/**
 * File names are bytes. In text, each byte of a name that is not UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as in Python (PEP 383,
 * "surrogateescape"). JSON preserves it, and names can still be joined and compared.
 */
const LONE = /([\udc80-\udcff])/u;
const LONGEST_CHARACTER_BYTES = 4;

export function nameOf(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  let name = "";
  for (let at = 0; at < bytes.length; ) {
    const character = characterAt(bytes, at);
    name += character?.toString("utf8") ?? String.fromCharCode(0xdc00 + bytes.readUInt8(at));
    at += character?.length ?? 1;
  }
  return name;
}

function characterAt(bytes: Buffer, at: number): Buffer | undefined {
  for (let size = 1; size <= LONGEST_CHARACTER_BYTES; size += 1) {
    const part = bytes.subarray(at, at + size);
    if (isUtf8(part)) return part;
  }
  return undefined;
}

/** The path as the calls of `node:fs` take it when it contains such names. */
export function onDisk(path: string): string | Buffer {
  return LONE.test(path) ? Buffer.concat(path.split(LONE).map(bytesOf)) : path;
}

function bytesOf(part: string): Buffer {
  return LONE.test(part) ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part, "utf8");
}

/** The name as a shell shows it to people: `caf\xe9.txt`. */
export function shownNames(text: string): string {
  return text.replaceAll(/[\udc80-\udcff]/gu, shownByte);
}

export function shownByte(lone: string): string {
  return `\\x${(lone.charCodeAt(0) - 0xdc00).toString(16)}`;
}
