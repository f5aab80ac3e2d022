import { createHash } from "node:crypto";

export interface KeyDerivation {
  readonly digest: string;
  readonly password: string;
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly purpose: "key" | "iv" | "mac";
  readonly lengthBytes: number;
}

/** RFC 7292, appendix B.3 */
const purposes = { key: 1, iv: 2, mac: 3 } as const;
const longBlocks: readonly string[] = ["sha384", "sha512"];

/** A key from a password as PKCS #12 makes it (RFC 7292, appendix B.2). */
export function pkcs12Key({ digest, password, salt, iterations, purpose, lengthBytes }: KeyDerivation): Buffer {
  const blockBytes = longBlocks.includes(digest) ? 128 : 64;
  const secret = Buffer.from(`${password}\0`, "utf16le").swap16();
  const diversifier = Buffer.alloc(blockBytes, purposes[purpose]);
  let input: Buffer = Buffer.concat([filled(salt, blockBytes), filled(secret, blockBytes)]);
  const key: Buffer[] = [];
  for (let bytes = 0; bytes < lengthBytes; ) {
    let hash = createHash(digest).update(diversifier).update(input).digest();
    for (let round = 1; round < iterations; round += 1) hash = createHash(digest).update(hash).digest();
    key.push(hash);
    bytes += hash.length;
    input = added(input, filled(hash, blockBytes).subarray(0, blockBytes), blockBytes);
  }
  return Buffer.concat(key).subarray(0, lengthBytes);
}

/** Repeated until whole blocks are full. */
function filled(bytes: Uint8Array, blockBytes: number): Buffer {
  return Buffer.alloc(Math.ceil(bytes.length / blockBytes) * blockBytes, bytes);
}

/** Each block plus the addend plus 1, as numbers of a block's length. */
function added(input: Buffer, addend: Buffer, blockBytes: number): Buffer {
  const sum = Buffer.from(input);
  for (let start = 0; start < sum.length; start += blockBytes) {
    let carry = 1;
    for (let index = blockBytes - 1; index >= 0; index -= 1) {
      carry += sum.readUInt8(start + index) + addend.readUInt8(index);
      sum.writeUInt8(carry & 0xff, start + index);
      carry >>= 8;
    }
  }
  return sum;
}
