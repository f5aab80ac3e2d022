import { inflateRawSync } from "node:zlib";
import { TonyError } from "../../errors.ts";
import { errorMessage } from "../../hadoop/errors.ts";
import { type AvroSchema, type AvroValue, containerMagic, namedTypes, syncMarkerBytes } from "./schema.ts";

/** For all blocks together when unpacked: a job's history has a few hundred bytes for each task. */
const mostUnpackedBytes = 64 * 1024 * 1024;
/** A job's history has a few dozen values for each task. The schema is the file's own, and could make many values of one byte. */
export const MOST_VALUES = 2_000_000;
/** A 64-bit number has seven bits in each byte. */
const mostLongBits = 64n;

/**
 * All values of an object container file, read by the schema with which it was written. An incomplete last block, left by a writer that
 * died, is omitted.
 * @throws TonyError `AVRO_UNREADABLE` if the file is not a container file, or is corrupt
 */
export function readContainer(file: Uint8Array): AvroValue[] {
  const input = new AvroInput(file);
  const { codec, schema: text } = readHeader(input);
  const schema: AvroSchema = JSON.parse(text ?? "null");
  if (codec !== "null" && codec !== "deflate") throw unreadable(`it is compressed by ${codec}`);
  input.bytes(syncMarkerBytes);
  const values: AvroValue[] = [];
  const reading = { types: namedTypes(schema), valuesLeft: MOST_VALUES };
  let bytesLeft = mostUnpackedBytes;
  while (input.hasMore) {
    const count = input.long();
    const stored = input.bytes(input.long());
    const bytes = codec === "deflate" ? unpacked(stored, bytesLeft) : stored;
    bytesLeft -= bytes.length;
    const block = new AvroInput(bytes);
    for (const _value of block.times(count)) values.push(decode(schema, block, reading));
    input.bytes(syncMarkerBytes);
  }
  return values;
}

function unpacked(stored: Buffer, mostBytes: number): Buffer {
  try {
    return inflateRawSync(stored, { maxOutputLength: Math.max(1, mostBytes) });
  } catch (error) {
    throw unreadable(errorMessage(error));
  }
}

/** The compression of the blocks of a container file that begins so; undefined: it is not one, or its header is longer. */
export function codecOf(beginning: Uint8Array): string | undefined {
  try {
    return readHeader(new AvroInput(beginning)).codec;
  } catch {
    return undefined;
  }
}

function readHeader(input: AvroInput): { readonly codec: string; readonly schema: string | undefined } {
  if (!containerMagic.equals(input.bytes(containerMagic.length)))
    throw unreadable("it does not begin as an Avro file does");
  const metadata = new Map<string, string>();
  for (const _entry of input.items()) metadata.set(input.text(), input.text());
  return { codec: metadata.get("avro.codec") ?? "null", schema: metadata.get("avro.schema") };
}

interface Reading {
  readonly types: ReadonlyMap<string, AvroSchema>;
  valuesLeft: number;
}

function decode(schema: AvroSchema, input: AvroInput, reading: Reading): AvroValue {
  reading.valuesLeft -= 1;
  if (reading.valuesLeft < 0) throw unreadable(`it has more than ${MOST_VALUES} values`);
  if (typeof schema === "string") return decodeNamed(schema, input, reading);
  if ("length" in schema) {
    const branch = input.long();
    return { branch, of: decode(schema[branch] ?? "unknown", input, reading) };
  }
  switch (schema.type) {
    case "string":
      return input.text();
    case "enum":
      return schema.symbols[input.long()] ?? null;
    case "array": {
      const items: AvroValue[] = [];
      for (const _item of input.items()) items.push(decode(schema.items, input, reading));
      return items;
    }
    case "record": {
      return Object.fromEntries(schema.fields.map(({ name, type }) => [name, decode(type, input, reading)]));
    }
    default:
      throw unreadable("its schema has a type that none of TonY's has");
  }
}

function decodeNamed(name: string, input: AvroInput, reading: Reading): AvroValue {
  const defined = reading.types.get(name);
  if (defined !== undefined) return decode(defined, input, reading);
  switch (name) {
    case "null":
      return null;
    case "string":
      return input.text();
    case "int":
    case "long":
      return input.long();
    case "double":
      return input.bytes(8).readDoubleLE();
    default:
      throw unreadable(`its schema has the type ${name}, which none of TonY's has`);
  }
}

class AvroInput {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get hasMore(): boolean {
    return this.#at < this.#bytes.length;
  }

  bytes(length: number): Buffer {
    const end = this.#at + length;
    if (length < 0 || end > this.#bytes.length) throw unreadable("it is cut off");
    const found = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return found;
  }

  long(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes(1)[0] ?? 0;
      if (shift >= mostLongBits) throw unreadable("it has a number that is too long");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return Number((value & 1n) === 0n ? value >> 1n : -(value >> 1n) - 1n);
  }

  text(): string {
    return this.bytes(this.long()).toString("utf8");
  }

  /** Yields once for each item of an array or map, whose blocks have counts; a negative count is followed by the block's size. */
  *items(): Generator<void> {
    for (let count = this.long(); count !== 0; count = this.long()) {
      if (count < 0) this.long();
      yield* this.times(Math.abs(count));
    }
  }

  /** Yields that many times. A value that takes no byte could occur any number of times; TonY's schema has none. */
  *times(count: number): Generator<void> {
    for (let left = count; left > 0; left -= 1) {
      const before = this.#at;
      yield;
      if (this.#at === before) throw unreadable("it has values that take no byte");
    }
  }
}

function unreadable(why: string): TonyError {
  return new TonyError(`The Avro file cannot be read: ${why}`, { code: "AVRO_UNREADABLE" });
}
