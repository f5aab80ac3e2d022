import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { HadoopError } from "../../../../src/hadoop/errors.ts";
import { trustedInStore } from "../../../../src/hadoop/security/tls/trusted-certificates.ts";

/** Made by keytool of Java 17 and OpenSSL 3, with the password `changeit`; each holds the certificate of ca.pem. */
const store = (name: string) => readFileSync(`test/fixtures/trust-stores/${name}`);
const certificate = store("ca.pem").toString().trim();
const stores = ["store.jks", "store.p12", "3des.p12", "key.p12", "plain.p12"];

describe("the certificates of a trust store", () => {
  test.each(["ca.pem", ...stores])("%s: as PEM", (name) => {
    expect(trustedInStore(store(name), name, "changeit").trim()).toBe(certificate);
  });

  test.each(stores)("%s with another password is refused", (name) => {
    expect(() => trustedInStore(store(name), name, "other")).toThrow(/password is wrong, or the file was changed/);
  });

  test.each(stores)("%s that somebody has changed is refused", (name) => {
    const bytes = store(name);
    const middle = bytes.length >> 1;
    bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
    expect(() => trustedInStore(bytes, name, "changeit")).toThrow(HadoopError);
  });

  test("without a password only what is not encrypted can be read", () => {
    expect(trustedInStore(store("store.jks"), "store.jks", undefined).trim()).toBe(certificate);
    expect(trustedInStore(store("plain.p12"), "plain.p12", undefined).trim()).toBe(certificate);
    expect(() => trustedInStore(store("store.p12"), "store.p12", undefined)).toThrow(/no password is given/);
  });

  test("one of Java 8, by a cipher that is not read here, is refused with what makes it anew", () => {
    expect(() => trustedInStore(store("rc2.p12"), "/etc/t.p12", "changeit")).toThrow(
      /^The trust store \/etc\/t\.p12 cannot be read: .*keytool -importkeystore/,
    );
  });

  test("any bytes are certificates or an error of its own", () => {
    const jks = Buffer.from("feedfeed00000002", "hex");
    const heads = [Buffer.alloc(0), jks, Buffer.from([0x30, 0x82])];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 300 }), (head, rest) => {
        expect(() => trustedInStore(Buffer.concat([head, rest]), "f", undefined)).toThrow(HadoopError);
      }),
    );
  });
});
