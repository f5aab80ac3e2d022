import { crc32c, masked } from "../../src/crc32c.ts";
import { TonyError } from "../../src/errors.ts";
import { MOST_ROW_BYTES } from "./row-limit.ts";

/** TensorFlow's core/lib/io/record_writer.h: length (8 bytes), its checksum, as many bytes, their checksum; all little-endian. */
const LENGTH_BYTES = 8;
const CHECKSUM_BYTES = 4;

/** Passes the bytes of a TFRecord file on, the last ones of each record only once they match its checksum. */
export async function* checkedRecords(source: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer, void> {
  const check = new RecordCheck(file);
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) at += check.take(chunk.subarray(at));
    yield chunk;
  }
  check.end();
}

class RecordCheck {
  readonly #file: string;
  /** Offset of the record in the uncompressed file. */
  #offset = 0;
  readonly #head = new Gathered(LENGTH_BYTES + CHECKSUM_BYTES);
  readonly #tail = new Gathered(CHECKSUM_BYTES);
  #dataLeft = 0;
  #crc = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** @returns how many of the bytes it has taken */
  take(bytes: Buffer): number {
    if (!this.#head.isWhole) {
      const taken = this.#head.take(bytes);
      if (this.#head.isWhole) this.#begin(this.#head.bytes);
      return taken;
    }
    if (this.#dataLeft > 0) {
      const data = bytes.subarray(0, this.#dataLeft);
      this.#crc = crc32c(data, this.#crc);
      this.#dataLeft -= data.length;
      return data.length;
    }
    const taken = this.#tail.take(bytes);
    if (this.#tail.isWhole) this.#finish(this.#tail.bytes);
    return taken;
  }

  end(): void {
    if (this.#head.filled > 0) this.#fail("is truncated");
  }

  #begin(head: Buffer): void {
    const length = head.readBigUInt64LE();
    const isRight = head.readUInt32LE(LENGTH_BYTES) === masked(crc32c(head.subarray(0, LENGTH_BYTES)));
    if (!isRight) this.#fail("has a length that does not match its checksum");
    if (length > MOST_ROW_BYTES) this.#fail(`has ${length} bytes; the limit is ${MOST_ROW_BYTES}`);
    this.#dataLeft = Number(length);
    this.#crc = 0;
  }

  #finish(tail: Buffer): void {
    if (tail.readUInt32LE() !== masked(this.#crc)) this.#fail("has data that does not match its checksum");
    this.#offset += this.#head.filled + Number(this.#head.bytes.readBigUInt64LE()) + this.#tail.filled;
    this.#head.filled = 0;
    this.#tail.filled = 0;
  }

  #fail(what: string): never {
    const message = `${this.#file} cannot be read: the record at byte ${this.#offset} ${what}`;
    throw new TonyError(message, { code: "FEED_FILE_DAMAGED" });
  }
}

/** A fixed number of bytes, gathered from pieces. */
class Gathered {
  readonly bytes: Buffer;
  filled = 0;

  constructor(length: number) {
    this.bytes = Buffer.alloc(length);
  }

  get isWhole(): boolean {
    return this.filled === this.bytes.length;
  }

  take(piece: Buffer): number {
    const taken = piece.copy(this.bytes, this.filled);
    this.filled += taken;
    return taken;
  }
}
