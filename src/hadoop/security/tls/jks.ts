import { createHash } from "node:crypto";

const magic = 0xfeedfeed;
const digestBytes = 20;
/** sun.security.provider.JavaKeyStore#getPreKeyedHash */
const whitener = "Mighty Aphrodite";
const privateKeyTag = 1;
const certificateTag = 2;

export function isJks(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32BE(0) === magic;
}

/**
 * The certificates in a Java key store (sun.security.provider.JavaKeyStore), in DER:
 *
 *     0xFEEDFEED | version(4) | count(4) | entry × count | SHA-1(password in UTF-16 | "Mighty Aphrodite" | all before)
 *     entry:  1 | alias | time(8) | key: length(4), bytes | count(4) | certificate × count
 *             2 | alias | time(8) | certificate
 *     alias:  length(2), bytes        certificate:  type: length(2), bytes | length(4), bytes     (no type in version 1)
 *
 * @param password undefined: whether somebody has changed the store is not looked at, as Java does
 * @throws RangeError for bytes that are cut off or of another kind, or a password that is not the store's
 */
export function jksCertificates(bytes: Buffer, password: string | undefined): readonly Buffer[] {
  const end = bytes.length - digestBytes;
  if (password !== undefined) {
    const secret = Buffer.from(password, "utf16le").swap16();
    const digest = createHash("sha1").update(secret).update(whitener).update(bytes.subarray(0, end)).digest();
    if (!digest.equals(bytes.subarray(end))) throw new RangeError("the password is wrong, or the file was changed");
  }
  const reader = new Reader(bytes.subarray(4, end));
  const version = reader.number();
  const certificates: Buffer[] = [];
  const certificate = () => {
    if (version > 1) reader.text();
    certificates.push(reader.bytes(reader.number()));
  };
  for (let entries = reader.number(); entries > 0; entries -= 1) {
    const tag = reader.number();
    reader.text();
    reader.bytes(8);
    if (tag === certificateTag) {
      certificate();
    } else if (tag === privateKeyTag) {
      reader.bytes(reader.number());
      for (let count = reader.number(); count > 0; count -= 1) certificate();
    } else {
      throw new RangeError(`an entry is of kind ${tag}`);
    }
  }
  return certificates;
}

/** Reads big-endian numbers and what has its length in front; RangeError past the end. */
class Reader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  number(): number {
    this.#offset += 4;
    return this.#bytes.readUInt32BE(this.#offset - 4);
  }

  bytes(length: number): Buffer {
    const start = this.#offset;
    this.#offset += length;
    if (this.#offset > this.#bytes.length) throw new RangeError("it is cut off");
    return this.#bytes.subarray(start, this.#offset);
  }

  text(): Buffer {
    return this.bytes(this.bytes(2).readUInt16BE(0));
  }
}
