import { createHash } from "node:crypto";
import { DerTag, derContent, derValues } from "./der.ts";

const magic = 0xfeedfeed;
const digestBytes = 20;
/** sun.security.provider.JavaKeyStore#getPreKeyedHash */
const whitener = "Mighty Aphrodite";
const privateKeyTag = 1;
const certificateTag = 2;

export function isJks(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32BE(0) === magic;
}

interface Entry {
  /** The owner's own certificate first, then those that vouch for it. */
  readonly certificates: readonly Buffer[];
  /** Encrypted; absent for a certificate of somebody else. */
  readonly sealedKey?: Buffer;
}

/**
 * The certificates in a Java key store, in DER.
 *
 * @param password undefined: the store's integrity is not checked, as in Java
 * @throws RangeError for bytes that are truncated or of another kind, or for a wrong password
 */
export function jksCertificates(bytes: Buffer, password: string | undefined): readonly Buffer[] {
  return entriesOf(bytes, password).flatMap(({ certificates }) => certificates);
}

export interface KeyPair extends Pick<Entry, "certificates"> {
  /** PKCS #8, in DER. */
  readonly key: Buffer;
}

/** The first private key of a Java key store, with its certificates. @throws RangeError as `jksCertificates`, and if there is none */
export function jksKeyPair(bytes: Buffer, password: string): KeyPair {
  const [entry] = entriesOf(bytes, password).filter(({ sealedKey }) => sealedKey !== undefined);
  if (entry?.sealedKey === undefined) throw new RangeError("there is no private key in it");
  const [, sealed] = derValues(derContent(derValues(entry.sealedKey), 0, DerTag.sequence));
  return { key: opened(sealed?.content ?? Buffer.alloc(0), password), certificates: entry.certificates };
}

/** sun.security.provider.KeyProtector: salt(20) | key XOR digests, each of the one before | SHA-1(password in UTF-16 | key) */
function opened(sealed: Buffer, password: string): Buffer {
  const secret = inUtf16(password);
  const key = Buffer.from(sealed.subarray(digestBytes, -digestBytes));
  let digest = sealed.subarray(0, digestBytes);
  for (const [index, byte] of key.entries()) {
    if (index % digestBytes === 0) digest = sha1(secret, digest);
    key.writeUInt8(byte ^ digest.readUInt8(index % digestBytes), index);
  }
  if (!sha1(secret, key).equals(sealed.subarray(-digestBytes))) throw new RangeError("the password is not the key's");
  return key;
}

/**
 * The contents of a Java key store (sun.security.provider.JavaKeyStore):
 *
 *     0xFEEDFEED | version(4) | count(4) | entry × count | SHA-1(password in UTF-16 | "Mighty Aphrodite" | all before)
 *     entry:  1 | alias | time(8) | key: length(4), bytes | count(4) | certificate × count
 *             2 | alias | time(8) | certificate
 *     alias:  length(2), bytes        certificate:  type: length(2), bytes | length(4), bytes     (no type in version 1)
 */
function entriesOf(bytes: Buffer, password: string | undefined): readonly Entry[] {
  const end = bytes.length - digestBytes;
  if (password !== undefined) {
    const digest = sha1(inUtf16(password), Buffer.from(whitener), bytes.subarray(0, end));
    if (!digest.equals(bytes.subarray(end))) throw new RangeError("the password is wrong, or the file was changed");
  }
  const reader = new Reader(bytes.subarray(4, end));
  const version = reader.number();
  const certificate = () => {
    if (version > 1) reader.text();
    return reader.bytes(reader.number());
  };
  return times(reader.number(), () => {
    const tag = reader.number();
    reader.text();
    reader.bytes(8);
    if (tag === certificateTag) return { certificates: [certificate()] };
    if (tag !== privateKeyTag) throw new RangeError(`an entry is of kind ${tag}`);
    const sealedKey = reader.bytes(reader.number());
    return { sealedKey, certificates: times(reader.number(), certificate) };
  });
}

/** Calls `make` that many times, or until it throws: nothing is allocated in advance for a number that the file states. */
function times<Made>(count: number, make: () => Made): Made[] {
  const made: Made[] = [];
  while (made.length < count) made.push(make());
  return made;
}

function inUtf16(password: string): Buffer {
  return Buffer.from(password, "utf16le").swap16();
}

function sha1(...parts: readonly Buffer[]): Buffer {
  return createHash("sha1").update(Buffer.concat(parts)).digest();
}

/** Reads big-endian numbers and length-prefixed data; RangeError past the end. */
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
