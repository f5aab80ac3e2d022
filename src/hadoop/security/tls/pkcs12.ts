/** Certificates in a PKCS #12 file (RFC 7292), as keytool and openssl write them. */

import { createDecipheriv, createHash, createHmac, pbkdf2Sync, timingSafeEqual } from "node:crypto";
import { entryOf } from "../../json.ts";
import { DerTag, type DerValue, derContent, derValues } from "./der.ts";

interface KeyDerivation {
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

/** Derives a key from a password as PKCS #12 does (RFC 7292, appendix B.2). */
function pkcs12Key({ digest, password, salt, iterations, purpose, lengthBytes }: KeyDerivation): Buffer {
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

/** The bytes repeated until they fill whole blocks. */
function filled(bytes: Uint8Array, blockBytes: number): Buffer {
  return Buffer.alloc(Math.ceil(bytes.length / blockBytes) * blockBytes, bytes);
}

/** Adds the addend and 1 to each block, as big numbers of a block's length. */
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

/** Object identifiers, by the bytes of their content. */
const oids = {
  data: "2a864886f70d010701",
  encryptedData: "2a864886f70d010706",
  certificateBag: "2a864886f70d010c0a0103",
  x509Certificate: "2a864886f70d01091601",
  passwordBased2: "2a864886f70d01050d",
  tripleDes: "2a864886f70d010c0103",
} as const;

const digests: Readonly<Record<string, string>> = {
  "2b0e03021a": "sha1",
  "608648016503040201": "sha256",
  "608648016503040202": "sha384",
  "608648016503040203": "sha512",
};
const pseudorandomFunctions: Readonly<Record<string, string>> = {
  "2a864886f70d0207": "sha1",
  "2a864886f70d0209": "sha256",
  "2a864886f70d020a": "sha384",
  "2a864886f70d020b": "sha512",
};
const ciphers: Readonly<Record<string, { readonly name: string; readonly keyBytes: number }>> = {
  "60864801650304012a": { name: "aes-256-cbc", keyBytes: 32 },
  "608648016503040116": { name: "aes-192-cbc", keyBytes: 24 },
  "608648016503040102": { name: "aes-128-cbc", keyBytes: 16 },
};
/** More would only serve to keep this process busy. */
const mostIterations = 5_000_000;

/**
 * The certificates of a file, in DER.
 * @param password undefined: only unencrypted content is read, and the file's integrity is not checked
 * @throws RangeError for bytes of another kind, a wrong password, or an unsupported cipher
 */
export function pkcs12Certificates(bytes: Buffer, password: string | undefined): readonly Buffer[] {
  const [, safe, mac] = derValues(derContent(derValues(bytes), 0, DerTag.sequence));
  if (safe === undefined) throw new RangeError("it is not PKCS #12");
  const content = explicitOctets(derValues(safe.content)[1]);
  if (mac !== undefined && password !== undefined) checkMac(content, mac, password);
  return derValues(derContent(derValues(content), 0, DerTag.sequence)).flatMap((part) => {
    const contents = safeContents(part, password);
    return derValues(derContent(derValues(contents), 0, DerTag.sequence)).flatMap(certificateIn);
  });
}

/** SafeBag: the certificate of a certificate bag; nothing for others. */
function certificateIn(bag: DerValue): readonly Buffer[] {
  const [kind, value] = derValues(bag.content);
  if (value === undefined || oidOf(kind) !== oids.certificateBag) return [];
  const [type, certificate] = derValues(derContent(derValues(value.content), 0, DerTag.sequence));
  return oidOf(type) === oids.x509Certificate ? [explicitOctets(certificate)] : [];
}

/** ContentInfo: as it is, or decrypted. */
function safeContents(info: DerValue, password: string | undefined): Buffer {
  const [type, content] = derValues(info.content);
  if (oidOf(type) === oids.data) return explicitOctets(content);
  if (content === undefined || oidOf(type) !== oids.encryptedData) throw new RangeError("a part is of an unknown kind");
  if (password === undefined) throw new RangeError("it is encrypted, and no password is given");
  const [, encrypted] = derValues(derContent(derValues(content.content), 0, DerTag.sequence));
  const [, algorithm, bytes] = derValues(encrypted?.content ?? Buffer.alloc(0));
  if (algorithm === undefined || bytes?.tag !== DerTag.implicitOctets0)
    throw new RangeError("an encrypted part is malformed");
  return decrypted(bytes.content, derValues(algorithm.content), password);
}

function decrypted(bytes: Buffer, algorithm: readonly DerValue[], password: string): Buffer {
  const parameters = derValues(derContent(algorithm, 1, DerTag.sequence));
  const scheme = oidOf(algorithm[0]);
  const { name, key, iv } =
    scheme === oids.passwordBased2
      ? passwordBased2(parameters, password)
      : scheme === oids.tripleDes
        ? tripleDes(parameters, password)
        : unreadable();
  try {
    const decipher = createDecipheriv(name, key, iv);
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch (cause) {
    throw new RangeError("the password is wrong, or the file was changed", { cause });
  }
}

interface Sealing {
  readonly name: string;
  readonly key: Buffer;
  readonly iv: Buffer;
}

/** RFC 8018 §6.2 */
function passwordBased2(parameters: readonly DerValue[], password: string): Sealing {
  const [, derivation] = derValues(derContent(parameters, 0, DerTag.sequence));
  const [scheme, iv] = derValues(derContent(parameters, 1, DerTag.sequence));
  const derived = derValues(derivation?.content ?? Buffer.alloc(0));
  const last = derived.at(-1);
  const digest =
    last?.tag === DerTag.sequence ? entryOf(pseudorandomFunctions, oidOf(derValues(last.content)[0])) : "sha1";
  const cipher = entryOf(ciphers, oidOf(scheme));
  if (cipher === undefined || digest === undefined || iv === undefined) return unreadable();
  const salt = derContent(derived, 0, DerTag.octets);
  const key = pbkdf2Sync(password, salt, iterations(derived, 1), cipher.keyBytes, digest);
  return { name: cipher.name, key, iv: iv.content };
}

/** RFC 7292, appendix C: keytool's format until Java 8. */
function tripleDes(parameters: readonly DerValue[], password: string): Sealing {
  const salt = derContent(parameters, 0, DerTag.octets);
  const rounds = { digest: "sha1", password, salt, iterations: iterations(parameters, 1) } as const;
  const key = pkcs12Key({ ...rounds, purpose: "key", lengthBytes: 24 });
  return { name: "des-ede3-cbc", key, iv: pkcs12Key({ ...rounds, purpose: "iv", lengthBytes: 8 }) };
}

function checkMac(content: Buffer, mac: DerValue, password: string): void {
  const fields = derValues(mac.content);
  const [algorithm, expected] = derValues(derContent(fields, 0, DerTag.sequence));
  const digest = entryOf(digests, oidOf(derValues(algorithm?.content ?? Buffer.alloc(0))[0]));
  if (digest === undefined || expected === undefined) unreadable();
  const key = pkcs12Key({
    digest,
    password,
    salt: derContent(fields, 1, DerTag.octets),
    iterations: fields.length > 2 ? iterations(fields, 2) : 1,
    purpose: "mac",
    lengthBytes: expected.content.length,
  });
  const found = createHmac(digest, key).update(content).digest();
  if (found.length !== expected.content.length || !timingSafeEqual(found, expected.content)) {
    throw new RangeError("the password is wrong, or the file was changed");
  }
}

function iterations(values: readonly DerValue[], index: number): number {
  const bytes = derContent(values, index);
  const count = bytes.length <= 6 && bytes.length > 0 ? bytes.readUIntBE(0, bytes.length) : Number.POSITIVE_INFINITY;
  if (count < 1 || count > mostIterations) throw new RangeError(`it wants ${count} iterations`);
  return count;
}

/** `[0] { OCTET STRING }` */
function explicitOctets(value: DerValue | undefined): Buffer {
  if (value?.tag !== DerTag.context0) throw new RangeError("a value is missing");
  return derContent(derValues(value.content), 0, DerTag.octets);
}

function oidOf(value: DerValue | undefined): string {
  return value?.tag === DerTag.objectIdentifier ? value.content.toString("hex") : "";
}

function unreadable(): never {
  throw new RangeError(
    "it is encrypted or signed in a way that is not read here: keytool -importkeystore of Java 17 rewrites it",
  );
}
