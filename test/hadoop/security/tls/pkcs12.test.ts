import { createCipheriv, pbkdf2Sync } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { pkcs12Certificates } from "../../../../src/hadoop/security/tls/pkcs12.ts";

const der = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(content.length);
  return Buffer.concat([Buffer.of(tag, 0x82), length, content]);
};
const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents);
const octets = (content: Buffer) => der(0x04, content);
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const integer = (hex: string) => der(0x02, Buffer.from(hex, "hex"));
const explicit = (content: Buffer) => der(0xa0, content);

const data = oid("2a864886f70d010701");
const encryptedData = oid("2a864886f70d010706");
const x509 = "2a864886f70d01091601";

/** RFC 7292: SafeBag with a CertBag. */
const bag = (certificate: string, { type = x509, kind = "2a864886f70d010c0a0103" } = {}) =>
  sequence(oid(kind), explicit(sequence(oid(type), explicit(octets(Buffer.from(certificate))))));
const plain = (...bags: readonly Buffer[]) => sequence(data, explicit(octets(sequence(...bags))));
const file = (...parts: readonly Buffer[]) =>
  sequence(integer("03"), sequence(data, explicit(octets(sequence(...parts)))));

interface Sealing {
  readonly cipher?: string;
  readonly cipherOid?: string;
  readonly keyBytes?: number;
  readonly digest?: string;
  /** Absent: the default of RFC 8018, hmacWithSHA1. */
  readonly digestOid?: string | undefined;
  readonly iterations?: string;
  readonly password?: string;
}

/** A part encrypted by PBES2 (RFC 8018 §6.2). */
function sealed(bags: readonly Buffer[], sealing: Sealing): Buffer {
  const { cipher = "aes-256-cbc", cipherOid = "60864801650304012a", keyBytes = 32, digest = "sha256" } = sealing;
  const { digestOid, iterations = "0a", password = "changeit" } = sealing;
  const [salt, iv] = [Buffer.alloc(8, 7), Buffer.alloc(16, 9)];
  const key = pbkdf2Sync(password, salt, 10, keyBytes, digest);
  const encrypting = createCipheriv(cipher, key, iv);
  const bytes = Buffer.concat([encrypting.update(sequence(...bags)), encrypting.final()]);
  const digests = digestOid === undefined ? [] : [sequence(oid(digestOid), der(0x05))];
  const derivation = sequence(
    oid("2a864886f70d01050c"),
    sequence(octets(salt), integer(iterations), integer(keyBytes.toString(16)), ...digests),
  );
  const algorithm = sequence(oid("2a864886f70d01050d"), sequence(derivation, sequence(oid(cipherOid), octets(iv))));
  return sequence(encryptedData, explicit(sequence(integer("00"), sequence(data, algorithm, der(0x80, bytes)))));
}

const certificates = (bytes: Buffer, password: string | undefined = "changeit") =>
  pkcs12Certificates(bytes, password).map(String);

describe("the certificates of PKCS #12", () => {
  test("are those of all its parts, in their order, and nothing else that is in them", () => {
    const key = bag("a key", { kind: "2a864886f70d010c0a0102" });
    const other = bag("SDSI", { type: "2a864886f70d01091602" });
    expect(certificates(file(plain(bag("one"), key, other), plain(bag("two"), bag("three"))))).toEqual([
      "one",
      "two",
      "three",
    ]);
    expect(certificates(file())).toEqual([]);
  });

  test.each([
    ["no digest named: SHA-1", { digest: "sha1" }],
    ["SHA-1", { digest: "sha1", digestOid: "2a864886f70d0207" }],
    ["SHA-256", { digest: "sha256", digestOid: "2a864886f70d0209" }],
    ["SHA-384", { digest: "sha384", digestOid: "2a864886f70d020a" }],
    ["SHA-512", { digest: "sha512", digestOid: "2a864886f70d020b" }],
  ])("are decrypted with a key derived by %s", (_what, sealing) => {
    expect(certificates(file(sealed([bag("one")], sealing)))).toEqual(["one"]);
  });

  test.each([
    ["aes-256-cbc", "60864801650304012a", 32],
    ["aes-192-cbc", "608648016503040116", 24],
    ["aes-128-cbc", "608648016503040102", 16],
  ])("are decrypted by %s", (cipher, cipherOid, keyBytes) => {
    const sealing = { cipher, cipherOid, keyBytes, digestOid: "2a864886f70d0209" };
    expect(certificates(file(sealed([bag("one")], sealing)))).toEqual(["one"]);
  });

  const sha256 = { digestOid: "2a864886f70d0209" };
  test.each([
    ["another password", sealed([bag("one")], { ...sha256, password: "other" }), "the password is wrong, or the file"],
    ["a cipher that is not read here", sealed([], { ...sha256, cipherOid: "60864801650304012b" }), "-importkeystore"],
    ["a digest that is not read here", sealed([], { digestOid: "2a864886f70d02ff" }), "-importkeystore"],
    ["no iteration", sealed([], { ...sha256, iterations: "00" }), "it wants 0 iterations"],
    ["a count of iterations of no bytes", sealed([], { ...sha256, iterations: "" }), "it wants Infinity iterations"],
    ["too many iterations", sealed([], { ...sha256, iterations: "4c4b41" }), "it wants 5000001 iterations"],
    ["a count of seven bytes", sealed([], { ...sha256, iterations: "00000000000001" }), "it wants Infinity iterations"],
    ["a part of another kind", sequence(oid("2a864886f70d010703"), explicit(octets(bag("x")))), "of an unknown kind"],
    ["an encrypted part without its bytes", sequence(encryptedData, explicit(sequence(integer("00")))), "malformed"],
  ])("are not read with %s", (_what, part, said) => {
    expect(() => certificates(file(part))).toThrow(RangeError);
    expect(() => certificates(file(part))).toThrow(said);
  });

  test("are not read without a password where they are encrypted, nor from other DER", () => {
    expect(() => pkcs12Certificates(file(sealed([bag("one")], sha256)), undefined)).toThrow("no password is given");
    expect(() => certificates(sequence(integer("03")))).toThrow("it is not PKCS #12");
  });
});
