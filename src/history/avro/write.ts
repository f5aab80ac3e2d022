import { TonyError } from "../../errors.ts";
import { type AvroSchema, type AvroValue, containerMagic, namedTypes } from "./schema.ts";

/**
 * An object container file with one uncompressed block.
 * @param sync 16 bytes that occur nowhere else: random ones
 */
export function writeContainer(schema: AvroSchema, values: readonly AvroValue[], sync: Uint8Array): Buffer {
  const metadata = Object.entries({ "avro.schema": JSON.stringify(schema), "avro.codec": "null" });
  const entries = metadata.flatMap(([name, value]) => [...text(name), ...text(value)]);
  const types = namedTypes(schema);
  const block = Buffer.concat(values.flatMap((value) => encode(schema, value, types)));
  const header = [containerMagic, long(metadata.length), ...entries, long(0), sync];
  return Buffer.concat([...header, long(values.length), long(block.length), block, sync]);
}

/** @param types the ones that the schema defines */
function encode(schema: AvroSchema, value: AvroValue, types: ReadonlyMap<string, AvroSchema>): Uint8Array[] {
  if (typeof schema === "string") return encodeNamed(schema, value, types);
  if ("length" in schema) return encodeUnion(schema, value, types);
  switch (schema.type) {
    case "string":
      return encodeNamed("string", value, types);
    case "enum":
      return [long(schema.symbols.indexOf(String(value)))];
    case "array":
      if (!Array.isArray(value)) throw notOf("array", value);
      return value.length === 0
        ? [long(0)]
        : [long(value.length), ...value.flatMap((item) => encode(schema.items, item, types)), long(0)];
    case "record": {
      if (value === null || typeof value !== "object") throw notOf(schema.name, value);
      const fields = new Map<string, AvroValue>(Object.entries(value));
      return schema.fields.flatMap(({ name, type }) => encode(type, fields.get(name) ?? null, types));
    }
  }
}

function encodeNamed(name: string, value: AvroValue, types: ReadonlyMap<string, AvroSchema>): Uint8Array[] {
  const defined = types.get(name);
  if (defined !== undefined) return encode(defined, value, types);
  if (name === "null" && value === null) return [];
  if (name === "string" && typeof value === "string") return text(value);
  if ((name === "int" || name === "long") && typeof value === "number") return [long(value)];
  if (name === "double" && typeof value === "number") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return [bytes];
  }
  throw notOf(name, value);
}

function encodeUnion(
  branches: readonly AvroSchema[],
  value: AvroValue,
  types: ReadonlyMap<string, AvroSchema>,
): Uint8Array[] {
  if (value === null || typeof value !== "object" || !("branch" in value) || typeof value.branch !== "number") {
    throw notOf("union", value);
  }
  const branch = branches[value.branch];
  if (branch === undefined) throw notOf("union", value);
  return [long(value.branch), ...encode(branch, value.of ?? null, types)];
}

function text(value: string): Uint8Array[] {
  const bytes = Buffer.from(value);
  return [long(bytes.length), bytes];
}

/** Zigzag encoding, then seven bits per byte, the lowest first. */
function long(value: number): Uint8Array {
  let rest = value >= 0 ? BigInt(value) * 2n : BigInt(value) * -2n - 1n;
  const bytes: number[] = [];
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.from([...bytes, Number(rest)]);
}

function notOf(what: string, value: AvroValue): TonyError {
  return new TonyError(`${JSON.stringify(value)} is no Avro ${what}`, { code: "AVRO_INVALID" });
}
