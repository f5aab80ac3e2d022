import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { makeServerKey } from "../../src/api/server-key.ts";

const nowMs = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;

describe("the key of a server", () => {
  it("has a self-signed P-256 certificate", () => {
    const { certificate, privateKey } = makeServerKey("application_1_0001.tony", nowMs);
    const parsed = new X509Certificate(certificate);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.subjectAltName).toBe("DNS:application_1_0001.tony");
    expect(parsed.subject).toBe("CN=application_1_0001.tony");
    expect(parsed.ca).toBe(false);
    expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  it("is valid on a node whose clock is a day behind, and for a year", () => {
    const { validFrom, validTo } = new X509Certificate(makeServerKey("a.tony", nowMs).certificate);
    expect(Date.parse(validFrom)).toBe(nowMs - DAY_MS);
    expect(Date.parse(validTo)).toBe(nowMs + 366 * DAY_MS);
  });

  it("has years from 2050 on in four digits", () => {
    const { certificate } = makeServerKey("a.tony", Date.UTC(2049, 5, 1));
    expect(new Date(new X509Certificate(certificate).validTo).getUTCFullYear()).toBe(2050);
  });

  it("is another one each time", () => {
    expect(makeServerKey("a.tony", nowMs).privateKey).not.toBe(makeServerKey("a.tony", nowMs).privateKey);
  });
});
