import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Configuration } from "../../../../src/hadoop/conf/configuration.ts";
import { HadoopError } from "../../../../src/hadoop/errors.ts";
import { siteCertificates, trustedInStore } from "../../../../src/hadoop/security/tls/trusted-certificates.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

/** Made by keytool of Java 17 and OpenSSL 3, with the password `changeit`; each holds the certificate of ca.pem. */
const store = (name: string) => readFileSync(`test/fixtures/trust-stores/${name}`);
const certificate = store("ca.pem").toString().trim();
const stores = ["store.jks", "store.p12", "3des.p12", "key.p12", "plain.p12", "sha384.p12", "sha512.p12"];

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

  test("may not be none", () => {
    const empty = Buffer.from("feedfeed0000000200000000", "hex");
    const sealed = Buffer.concat([empty, Buffer.alloc(20)]);
    expect(() => trustedInStore(sealed, "/etc/t.jks", undefined)).toThrow(
      "The trust store /etc/t.jks cannot be read: there is no certificate in it",
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

describe("the certificates that a site trusts", () => {
  const folder = temporaryFolder();
  const write = (file: string, values: Readonly<Record<string, string>>) => {
    const properties = Object.entries(values).map(
      ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>\n`,
    );
    writeFileSync(path.join(folder.path, file), `<configuration>\n${properties.join("")}</configuration>\n`);
  };
  const trusted = (values: Readonly<Record<string, string>> = {}) =>
    siteCertificates(
      new Configuration().withValues({ stores: path.resolve("test/fixtures/trust-stores"), ...values }),
      folder.path,
    );
  const location = "ssl.client.truststore.location";

  test("are those of the store in ssl-client.xml, whose values may refer to the site's", () => {
    write("ssl-client.xml", { [location]: "${stores}/store.p12", "ssl.client.truststore.password": "changeit" });
    expect(trusted()?.trim()).toBe(certificate);
  });

  test("are named by another file where the site says so", () => {
    write("ssl-client.xml", {});
    write("ours.xml", { [location]: "${stores}/ca.pem" });
    expect(trusted({ "hadoop.ssl.client.conf": "ours.xml" })?.trim()).toBe(certificate);
    expect(trusted({ "hadoop.ssl.client.conf": "" })).toBeUndefined();
  });

  test("are Node's where there is no such file, or it names no store", () => {
    expect(trusted()).toBeUndefined();
    write("ssl-client.xml", { [location]: "" });
    expect(trusted()).toBeUndefined();
  });

  test("are missed where the store that is named cannot be read", () => {
    write("ssl-client.xml", { [location]: "/nowhere/store.jks" });
    const file = path.join(folder.path, "ssl-client.xml");
    expect(() => trusted()).toThrow(
      expect.objectContaining({
        code: "TRUST_STORE",
        message: expect.stringContaining(`${location} (${file}:2) names a trust store that cannot be read: ENOENT`),
      }),
    );
  });
});
