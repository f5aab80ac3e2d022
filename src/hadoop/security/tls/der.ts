/** One value in DER or BER of definite length (X.690 §8.1). */
export interface DerValue {
  readonly tag: number;
  readonly content: Buffer;
}

export const DerTag = {
  octets: 0x04,
  objectIdentifier: 0x06,
  sequence: 0x30,
  context0: 0xa0,
  implicitOctets0: 0x80,
} as const;

/** The values in a sequence of bytes. @throws RangeError if the bytes are not DER */
export function derValues(bytes: Buffer): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const tag = bytes.readUInt8(offset);
    const { length, start } = lengthAt(bytes, offset + 1);
    if (start + length > bytes.length) throw new RangeError("a value is longer than what is there");
    values.push({ tag, content: bytes.subarray(start, start + length) });
    offset = start + length;
  }
  return values;
}

/** The content of the value at an index, which must have this tag. @throws RangeError if there is none */
export function derContent(values: readonly DerValue[], index: number, tag?: number): Buffer {
  const value = values[index];
  if (value === undefined || (tag !== undefined && value.tag !== tag)) throw new RangeError("a value is missing");
  return value.content;
}

const longForm = 0x80;
const longestLengthBytes = 4;

function lengthAt(bytes: Buffer, offset: number): { readonly length: number; readonly start: number } {
  const first = bytes.readUInt8(offset);
  if (first < longForm) return { length: first, start: offset + 1 };
  const count = first - longForm;
  if (count === 0 || count > longestLengthBytes) throw new RangeError("a length cannot be read");
  return { length: bytes.readUIntBE(offset + 1, count), start: offset + 1 + count };
}
