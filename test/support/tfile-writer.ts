import { deflateSync } from "node:zlib";

/** Writes the integers, texts and files of org.apache.hadoop.io.file.tfile, so that the reader can be tried on every form of them. */

/** Utils.writeVLong: the shortest form into which the number fits. */
export function vLong(value: number): Buffer {
  if (value >= -32 && value < 128) return signed(value, 1);
  for (const [lengthBytes, limit, base] of [
    [1, 20, 52],
    [2, 16, 88],
    [3, 8, 112],
  ] as const) {
    const high = Math.floor(value / 2 ** (8 * lengthBytes));
    if (high >= -limit && high < limit) {
      const low = value - high * 2 ** (8 * lengthBytes);
      const rest = Buffer.alloc(lengthBytes);
      rest.writeUIntBE(low, 0, lengthBytes);
      return Buffer.concat([signed(high - base, 1), rest]);
    }
  }
  const lengthBytes =
    [4, 5, 6, 7, 8].find((length) => value >= -(2 ** (8 * length - 1)) && value < 2 ** (8 * length - 1)) ?? 8;
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return Buffer.concat([signed(lengthBytes - 129, 1), bytes.subarray(8 - lengthBytes)]);
}

/** DataOutput.writeUTF. */
export function javaUtf(text: string): Buffer {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit !== 0 && unit < 0x80) bytes.push(unit);
    else if (unit < 0x800) bytes.push(0xc0 | (unit >> 6), 0x80 | (unit & 0x3f));
    else bytes.push(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f));
  }
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
}

/** Utils.writeString */
export function tfileText(text: string): Buffer {
  return Buffer.concat([vLong(Buffer.byteLength(text)), Buffer.from(text)]);
}

export interface WrittenRecord {
  readonly key: Buffer;
  /** The chunks of one value. */
  readonly chunks: readonly Buffer[];
}

/** A whole file. @param blocks the records of each block */
export function writeTFile(
  blocks: readonly (readonly WrittenRecord[])[],
  compression: "none" | "gz" | "lzo" = "none",
  withContents = true,
): Buffer {
  const pack = (bytes: Buffer) => (compression === "gz" ? deflateSync(bytes) : bytes);
  const stored: Buffer[] = [];
  let offset = 0;
  const region = (raw: Buffer) => {
    const packed = pack(raw);
    const described = Buffer.concat([vLong(offset), vLong(packed.length), vLong(raw.length)]);
    stored.push(packed);
    offset += packed.length;
    return described;
  };
  const regions = blocks.map((records) => region(Buffer.concat(records.map(recordBytes))));
  const dataIndex = region(Buffer.concat([tfileText(compression), vLong(regions.length), ...regions]));
  const metas = [tfileText("data:BCFile.index"), tfileText(compression), dataIndex];
  if (withContents) metas.push(tfileText("data:TFile.index"), tfileText(compression), region(contentsOf(blocks)));
  const metaIndex = Buffer.concat([vLong(metas.length / 3), ...metas]);
  const metaOffset = Buffer.alloc(8);
  metaOffset.writeBigUInt64BE(BigInt(offset));
  const magic = Buffer.from("d111d36891b5d7b639df414092bae150", "hex");
  return Buffer.concat([...stored, metaIndex, metaOffset, Buffer.from([0, 1, 0, 0]), magic]);
}

/** TFile.TFileIndex#write */
function contentsOf(blocks: readonly (readonly WrittenRecord[])[]): Buffer {
  const sized = (bytes: Buffer) => Buffer.concat([vLong(bytes.length), bytes]);
  const first = blocks[0]?.[0];
  if (first === undefined) return vLong(0);
  const entries = blocks.map((records) =>
    sized(Buffer.concat([sized(records.at(-1)?.key ?? Buffer.alloc(0)), vLong(records.length)])),
  );
  return Buffer.concat([sized(sized(first.key)), ...entries]);
}

function recordBytes({ key, chunks }: WrittenRecord): Buffer {
  const last = chunks.at(-1) ?? Buffer.alloc(0);
  const value = chunks.slice(0, -1).flatMap((chunk) => [vLong(-chunk.length), chunk]);
  return Buffer.concat([vLong(key.length), key, ...value, vLong(last.length), last]);
}

function signed(value: number, lengthBytes: number): Buffer {
  const bytes = Buffer.alloc(lengthBytes);
  bytes.writeIntBE(value, 0, lengthBytes);
  return bytes;
}
