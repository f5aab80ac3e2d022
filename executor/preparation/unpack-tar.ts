import { createReadStream, createWriteStream } from "node:fs";
import { lutimes, mkdir, symlink, utimes } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { TonyError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";

const BLOCK_BYTES = 512;

/**
 * Unpacks a `.tar.gz` that the client has packed (client/shipping/packing/tar.ts). It does not use the system's `tar`, which an image may
 * lack. Throws a TonyError with code `DISK_FULL` naming the folder whose disk has no room for it.
 */
export async function unpackTar(archive: string, folder: string): Promise<void> {
  await pipeline(createReadStream(archive), createGunzip(), async (chunks: AsyncIterable<Buffer>) => {
    await unpack(new Bytes(chunks[Symbol.asyncIterator]()), folder);
  }).catch((error: unknown) => {
    throw unpackingFault(error, folder);
  });
}

/** The error of unpacking, with the disk named where that was full. */
export function unpackingFault(cause: unknown, folder: string): unknown {
  if (errorCode(cause) !== "ENOSPC" && errorCode(cause) !== "EDQUOT") return cause;
  return new TonyError(`the disk of ${folder} has no room for the files of --src_dir`, { code: "DISK_FULL", cause });
}

interface Header {
  readonly path: string;
  readonly target: string;
  readonly sizeBytes: number;
  readonly mode: number;
  readonly modifiedAt: number;
  readonly typeFlag: string;
}

async function unpack(bytes: Bytes, root: string): Promise<void> {
  for (;;) {
    const header = await readHeader(bytes);
    if (header === undefined) break;
    const place = path.join(root, header.path);
    // A folder that its owner cannot write to could not be filled.
    if (header.typeFlag === "5") await mkdir(place, { recursive: true, mode: header.mode | 0o700 });
    else if (header.typeFlag === "2") await writeLink(place, header);
    else await writeEntry(bytes, place, header);
  }
  await bytes.drain();
}

async function writeLink(place: string, { target, modifiedAt }: Header): Promise<void> {
  await symlink(target, place);
  await lutimes(place, modifiedAt, modifiedAt);
}

async function writeEntry(bytes: Bytes, place: string, { sizeBytes, mode, modifiedAt }: Header): Promise<void> {
  await pipeline(bytes.next(sizeBytes), createWriteStream(place, { flags: "wx", mode }));
  await bytes.skip(paddingOf(sizeBytes));
  await utimes(place, modifiedAt, modifiedAt);
}

/** Header of the next entry; undefined at the archive's end. */
async function readHeader(bytes: Bytes): Promise<Header | undefined> {
  const block = await bytes.take(BLOCK_BYTES);
  if (block[0] === 0) return undefined;
  const header = fieldsOf(block);
  if (header.typeFlag !== "x") return header;
  const records = (await bytes.take(header.sizeBytes)).toString("utf8");
  await bytes.skip(paddingOf(header.sizeBytes));
  const entry = fieldsOf(await bytes.take(BLOCK_BYTES));
  const value = (key: string) => recordOf(records, key);
  return {
    ...entry,
    path: value("path") ?? entry.path,
    target: value("linkpath") ?? entry.target,
    sizeBytes: wholeNumber(Number(value("size") ?? entry.sizeBytes)),
  };
}

function fieldsOf(block: Buffer): Header {
  const text = (offset: number, length: number) =>
    block.toString("utf8", offset, offset + length).replace(/\0.*$/s, "");
  const octal = (offset: number, length: number) => wholeNumber(Number.parseInt(text(offset, length), 8));
  return {
    path: text(0, 100),
    target: text(157, 100),
    sizeBytes: octal(124, 12),
    mode: octal(100, 8),
    modifiedAt: octal(136, 12),
    typeFlag: text(156, 1),
  };
}

function wholeNumber(value: number): number {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw damaged();
}

function damaged(): TonyError {
  return new TonyError("the archive of --src_dir is damaged: submit the job again", { code: "LOCALIZATION" });
}

/** From records `<length> <key>=<value>\n`, whose values may contain line ends. */
function recordOf(records: string, wanted: string): string | undefined {
  let rest = Buffer.from(records, "utf8");
  while (rest.length > 0) {
    const length = Number.parseInt(rest.toString("latin1", 0, 20), 10);
    const [, key, value] = /^\d+ ([^=]*)=(.*)\n$/s.exec(rest.toString("utf8", 0, length)) ?? [];
    if (key === wanted && value?.includes("\0")) throw damaged();
    if (key === wanted) return value;
    if (key === undefined) return undefined;
    rest = rest.subarray(length);
  }
  return undefined;
}

function paddingOf(sizeBytes: number): number {
  return (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** A stream, read in pieces of given lengths. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterator<Buffer>) {
    this.#chunks = chunks;
  }

  async *next(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) await this.#fill();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async take(length: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of this.next(length)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async skip(length: number): Promise<void> {
    await this.take(length);
  }

  /** Reads to the end, where a damaged archive would show itself. */
  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#chunks.next();
    if (done === true) throw new TonyError("the archive of --src_dir ends too early", { code: "LOCALIZATION" });
    this.#rest = value;
  }
}
