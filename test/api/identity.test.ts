import { X509Certificate } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import {
  clientAccess,
  executorIdentity,
  executorSecrets,
  masterSecrets,
  parseClientAccess,
  readExecutorIdentity,
  readMasterIdentity,
} from "../../src/api/identity.ts";
import { makeIdentity } from "../../src/api/make-identity.ts";

const applicationId = "application_1795305600000_0001";
const nowMs = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;

describe("an application's identity", () => {
  const identity = makeIdentity(applicationId, nowMs);

  it.each([
    ["master", identity.master, `${applicationId}.tony`],
    ["executor", identity.executor, `executor.${applicationId}.tony`],
  ])("has a self-signed P-256 certificate for the %s", (_name, { certificate, privateKey }, serverName) => {
    const parsed = new X509Certificate(certificate);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.subjectAltName).toBe(`DNS:${serverName}`);
    expect(parsed.subject).toBe(`CN=${serverName}`);
    expect(parsed.ca).toBe(false);
    expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: "prime256v1" });
    expect(privateKey).toMatch(/^-----BEGIN PRIVATE KEY-----/);
  });

  it("is valid on a node whose clock is a day behind, and for more than a year", () => {
    const { validFrom, validTo } = new X509Certificate(identity.master.certificate);
    expect(Date.parse(validFrom)).toBe(nowMs - DAY_MS);
    expect(Date.parse(validTo)).toBeGreaterThan(nowMs + 366 * DAY_MS);
  });

  it("writes years from 2050 on in four digits", () => {
    const { certificate } = makeIdentity(applicationId, Date.UTC(2049, 5, 1)).master;
    expect(new Date(new X509Certificate(certificate).validTo).getUTCFullYear()).toBe(2054);
  });

  it("is different for every application made", () => {
    const other = makeIdentity(applicationId, nowMs);
    expect(other.executorSecret).not.toBe(identity.executorSecret);
    expect(other.clientSecret).not.toBe(identity.clientSecret);
    expect(other.master.certificate).not.toBe(identity.master.certificate);
  });

  it("travels in credentials to the ApplicationMaster whole", () => {
    expect(readMasterIdentity(applicationId, masterSecrets(identity))).toEqual(identity);
  });

  it("gives an executor neither the master's key nor the client's secret", () => {
    const secrets = executorSecrets(executorIdentity(identity));
    expect(readExecutorIdentity(applicationId, secrets)).toEqual(executorIdentity(identity));
    const given = [...secrets.values()].map((value) => Buffer.from(value).toString());
    expect(given).not.toContain(identity.master.privateKey);
    expect(given).not.toContain(identity.clientSecret);
  });

  it("names what is missing from credentials", () => {
    const secrets = masterSecrets(identity);
    secrets.delete("tony.client.secret");
    expect(() => readMasterIdentity(applicationId, secrets)).toThrow(
      expect.objectContaining({ code: "IDENTITY_INCOMPLETE", message: expect.stringContaining("tony.client.secret") }),
    );
  });

  it("gives later clients their access as a file, without any key", () => {
    const text = JSON.stringify(clientAccess(identity));
    expect(parseClientAccess(text)).toEqual(clientAccess(identity));
    expect(text).not.toContain("PRIVATE KEY");
    expect(text).not.toContain(identity.executorSecret);
  });

  it.each(["{}", "null", '{"applicationId":"a","masterCertificate":"b"}'])(
    "refuses %s as a client's access",
    (text) => {
      expect(() => parseClientAccess(text)).toThrow(expect.objectContaining({ code: "IDENTITY_INCOMPLETE" }));
    },
  );
});
