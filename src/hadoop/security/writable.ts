/**
 * Hadoop's variable-length integers and length-prefixed bytes (org.apache.hadoop.io.WritableUtils, Text):
 *
 *     −112 … 127     one byte, the value itself
 *     else           −112 − n (positive) or −120 − n (negative; of ~value), then the n bytes of the value, highest first
 */
const smallestSingle = -112;
const largestSingle = 127;
const positiveBase = -112;
const negativeBase = -120;

export function writeVint(value: number): Uint8Array {
  if (value >= smallestSingle && value <= largestSingle) return Uint8Array.of(value & 0xff);
  let rest = value < 0 ? ~BigInt(value) : BigInt(value);
  const bytes: number[] = [];
  for (; rest > 0n; rest >>= 8n) bytes.unshift(Number(rest & 0xffn));
  return Uint8Array.of(((value < 0 ? negativeBase : positiveBase) - bytes.length) & 0xff, ...bytes);
}

export function writeBytes(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([writeVint(bytes.length), bytes]);
}

export function writeText(text: string): Uint8Array {
  return writeBytes(Buffer.from(text, "utf8"));
}

/** Reads from the start. Throws RangeError when the bytes end too early or a number is out of range. */
export class WritableReader {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  vint(): number {
    const first = ((this.#take(1)[0] ?? 0) << 24) >> 24;
    if (first >= smallestSingle) return first;
    const negative = first < negativeBase;
    let value = 0n;
    for (const byte of this.#take(negative ? negativeBase - first : positiveBase - first)) {
      value = (value << 8n) | BigInt(byte);
    }
    const result = Number(negative ? ~value : value);
    if (!Number.isSafeInteger(result)) throw new RangeError("A number is out of range");
    return result;
  }

  /** The number of items that follow. */
  count(): number {
    const count = this.vint();
    if (count < 0) throw new RangeError(`${count} is no number of things`);
    return count;
  }

  /** A copy. */
  bytes(): Uint8Array {
    return Uint8Array.from(this.#take(this.vint()));
  }

  text(): string {
    return Buffer.from(this.bytes()).toString("utf8");
  }

  #take(count: number): Uint8Array {
    const end = this.#offset + count;
    if (count < 0 || end > this.#bytes.length) throw new RangeError(`${count} bytes are missing at ${this.#offset}`);
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}
