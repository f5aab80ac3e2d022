import { LogFormatError } from "./errors.ts";

/** Anything larger is read as chunks; a larger length in front of a key or name means corruption. */
const maximumReadBytes = 16 * 1024 * 1024;

/** Reads a stream of chunks piece by piece, and never buffers more than a chunk and the requested piece. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Whether nothing is left. */
  async atEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  /** Exactly `lengthBytes` bytes. @throws LogFormatError when fewer are left */
  async read(lengthBytes: number): Promise<Buffer> {
    if (lengthBytes < 0 || lengthBytes > maximumReadBytes)
      throw new LogFormatError(`a length of ${lengthBytes} is not possible here`);
    const pieces: Buffer[] = [];
    for await (const piece of this.take(lengthBytes)) pieces.push(piece);
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  /** `lengthBytes` bytes, in the chunks in which they arrive. @throws LogFormatError when fewer are left */
  async *take(lengthBytes: number): AsyncGenerator<Buffer> {
    let wanted = lengthBytes;
    while (wanted > 0) {
      if (!(await this.#fill())) throw new LogFormatError(`the data ends ${wanted} bytes too early`);
      const piece = this.#chunk.subarray(this.#position, this.#position + wanted);
      this.#position += piece.length;
      wanted -= piece.length;
      yield piece;
    }
  }

  async skip(lengthBytes: number): Promise<void> {
    for await (const _ of this.take(lengthBytes));
  }

  /** Skips everything that is left. */
  async skipRest(): Promise<void> {
    while (await this.#fill()) this.#position = this.#chunk.length;
  }

  async #fill(): Promise<boolean> {
    while (this.#position >= this.#chunk.length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      this.#position = 0;
    }
    return true;
  }
}

/**
 * The variable-length integer of TFile (org.apache.hadoop.io.file.tfile.Utils.readVLong), which is not WritableUtils': the first byte
 * FB, signed, is
 *   −32 … 127      the number
 *   −72 … −33      (FB + 52) · 2^8  + 1 byte
 *   −104 … −73     (FB + 88) · 2^16 + 2 bytes
 *   −120 … −105    (FB + 112) · 2^24 + 3 bytes
 *   −125 … −121    followed by FB + 129 bytes, big-endian and signed
 */
export async function readVLong(reader: ByteReader): Promise<number> {
  const first = (await reader.read(1)).readInt8(0);
  if (first >= -32) return first;
  if (first >= -72) return (first + 52) * 2 ** 8 + (await reader.read(1)).readUIntBE(0, 1);
  if (first >= -104) return (first + 88) * 2 ** 16 + (await reader.read(2)).readUIntBE(0, 2);
  if (first >= -120) return (first + 112) * 2 ** 24 + (await reader.read(3)).readUIntBE(0, 3);
  const lengthBytes = first + 129;
  if (lengthBytes < 4 || lengthBytes > 8) throw new LogFormatError(`${first} does not begin a variable-length integer`);
  const bytes = await reader.read(lengthBytes);
  const value =
    lengthBytes <= 6
      ? bytes.readIntBE(0, lengthBytes)
      : Number(BigInt.asIntN(8 * lengthBytes, BigInt(`0x${bytes.toString("hex")}`)));
  if (!Number.isSafeInteger(value)) throw new LogFormatError(`the number ${value} is too large for a length`);
  return value;
}

/** A text in TFile's own structures: length as VLong, then UTF-8 (Utils.readString). */
export async function readText(reader: ByteReader): Promise<string> {
  const lengthBytes = await readVLong(reader);
  return lengthBytes < 0 ? "" : (await reader.read(lengthBytes)).toString("utf8");
}

/** A text written by Java's DataOutput.writeUTF: length in two bytes, then modified UTF-8. */
export async function readJavaUtf(reader: ByteReader): Promise<string> {
  return decodeJavaUtf(await reader.read((await reader.read(2)).readUInt16BE(0)));
}

/** Modified UTF-8, in which NUL takes two bytes and a character beyond the basic plane is a pair of three-byte surrogates. */
export function decodeJavaUtf(bytes: Buffer): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const lengthBytes = first < 0x80 ? 1 : first >> 5 === 0b110 ? 2 : first >> 4 === 0b1110 ? 3 : 0;
    if (lengthBytes === 0 || at + lengthBytes > bytes.length) throw new LogFormatError("a text is not modified UTF-8");
    let unit = lengthBytes === 1 ? first : first & (0xff >> (lengthBytes + 1));
    for (let offset = 1; offset < lengthBytes; offset += 1) unit = (unit << 6) | ((bytes[at + offset] ?? 0) & 0x3f);
    text += String.fromCharCode(unit);
    at += lengthBytes;
  }
  return text;
}

/** The bytes of a value written as a chain of chunks: a negative length means that more chunks follow (tfile.Chunk.ChunkDecoder). */
export async function* readChunks(reader: ByteReader): AsyncGenerator<Buffer> {
  for (;;) {
    const length = await readVLong(reader);
    yield* reader.take(Math.abs(length));
    if (length >= 0) return;
  }
}
