import { createHash, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { isJks, jksCertificates, jksKeyPair } from "../../../../src/hadoop/security/tls/jks.ts";

/** Made by ProxyCA of Hadoop 3.4.2: a key, its certificate, and the authority's. */
const store = () => readFileSync("test/fixtures/proxy-ca/application.jks");

describe("the key in a Java key store", () => {
  test("is that of its first certificate", () => {
    const { key, certificates } = jksKeyPair(store(), "changeit");
    const [own, authority] = certificates.map((bytes) => new X509Certificate(bytes));
    const publicKey = createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" }));
    expect(own?.publicKey.export({ format: "jwk" })).toEqual(publicKey.export({ format: "jwk" }));
    expect(own?.subject).toBe("CN=application_1_0001");
    expect(authority?.raw).toEqual(new X509Certificate(readFileSync("test/fixtures/proxy-ca/authority.pem")).raw);
    expect(jksCertificates(store(), "changeit")).toEqual(certificates);
  });

  test("is not read with another password, nor from a store that holds none", () => {
    expect(() => jksKeyPair(store(), "other")).toThrow("the password is wrong");
    const trusted = readFileSync("test/fixtures/trust-stores/store.jks");
    expect(() => jksKeyPair(trusted, "changeit")).toThrow("there is no private key in it");
  });

  test("is not read where its own password is another, or it was changed", () => {
    const bytes = store();
    const { length } = bytes;
    expect(() => jksKeyPair(sealedAnew(bytes, "other"), "other")).toThrow("the password is not the key's");
    expect(() => jksKeyPair(bytes.subarray(0, length - 1), "changeit")).toThrow("the password is wrong");
  });
});

/** The same store with another password for the whole, as `keytool -storepasswd` leaves it. */
function sealedAnew(bytes: Buffer, password: string): Buffer {
  const content = bytes.subarray(0, -20);
  const secret = Buffer.from(password, "utf16le").swap16();
  const digest = createHash("sha1").update(secret).update("Mighty Aphrodite").update(content).digest();
  return Buffer.concat([content, digest]);
}

describe("the certificates of a Java key store", () => {
  const number = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const text = (value: string) => Buffer.concat([Buffer.of(0, value.length), Buffer.from(value)]);
  const sized = (value: string) => Buffer.concat([number(value.length), Buffer.from(value)]);
  const file = (version: number, ...entries: readonly Buffer[]) =>
    Buffer.concat([number(0xfeedfeed), number(version), number(entries.length), ...entries, Buffer.alloc(20)]);
  const entry = (kind: number, alias: string, ...rest: readonly Buffer[]) =>
    Buffer.concat([number(kind), text(alias), Buffer.alloc(8), ...rest]);
  const certificates = (bytes: Buffer) => jksCertificates(bytes, undefined).map(String);

  test("are those of all entries, a key's too", () => {
    const chain = [text("X.509"), sized("own"), text("X.509"), sized("authority")];
    const key = entry(1, "key", sized("sealed"), number(2), ...chain);
    expect(certificates(file(2, entry(2, "one", text("X.509"), sized("1")), key))).toEqual(["1", "own", "authority"]);
    expect(certificates(file(2))).toEqual([]);
  });

  test("of others may stand before the entry with a key", () => {
    const bytes = store();
    const head = Buffer.concat([bytes.subarray(0, 8), number(bytes.readUInt32BE(8) + 1)]);
    const another = entry(2, "another", text("X.509"), sized("1"));
    const both = sealedAnew(Buffer.concat([head, another, bytes.subarray(12)]), "changeit");
    expect(jksKeyPair(both, "changeit")).toEqual(jksKeyPair(bytes, "changeit"));
  });

  test("had no types in its first version", () => {
    expect(certificates(file(1, entry(2, "one", sized("1")), entry(2, "two", sized("2"))))).toEqual(["1", "2"]);
  });

  test("are not read out of an entry of another kind, nor of a file that is cut off", () => {
    expect(() => certificates(file(2, entry(3, "secret", sized("x"))))).toThrow("an entry is of kind 3");
    const whole = file(2, entry(2, "one", text("X.509"), sized("12345")));
    expect(() => certificates(whole.subarray(0, -1))).toThrow("it is cut off");
  });

  test("are looked for only where a file begins as a key store", () => {
    expect([isJks(store()), isJks(Buffer.from("feedfeed", "hex"))]).toEqual([true, true]);
    expect([isJks(Buffer.from("feedfe", "hex")), isJks(Buffer.from("cececece", "hex"))]).toEqual([false, false]);
  });
});
