import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { jksCertificates, jksKeyPair } from "../../../../src/hadoop/security/tls/jks.ts";

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
});
