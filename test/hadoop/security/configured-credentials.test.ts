import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { configuredCredentials, configuredProtections } from "../../../src/hadoop/security/configured-credentials.ts";
import { protectionsOf } from "./presented.ts";

const endpoint = { host: "rm", port: 8032 };
const rm = { transport: "rpc", protocol: "P", endpoint, endpoints: [endpoint] } as const;
const nameNode = { transport: "http", url: new URL("http://nn:9870/"), redirected: false } as const;
const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "T", service: "" };

const credentialsWith = (values: Record<string, string>) =>
  configuredCredentials(new Configuration().withValues(values), { name: "ada" });

describe("what a configuration demands of authentication", () => {
  test("nothing but a name, by default", async () => {
    const credentials = credentialsWith({});
    expect(await credentials.user()).toBe("ada");
    expect(await credentials.forRpc(rm)).toMatchObject([{ method: "SIMPLE" }]);
    const http = await credentials.forHttp(nameNode);
    expect(await http.begin()).toEqual({ parameters: { "user.name": "ada" } });
  });

  test("with kerberos no server is told a bare name, over RPC or HTTP, and the error names the key", async () => {
    const credentials = credentialsWith({ "hadoop.security.authentication": "kerberos" });
    const refusal = { code: "KERBEROS_NEEDED", message: expect.stringContaining("hadoop.security.authentication") };
    await expect(credentials.forRpc(rm)).rejects.toMatchObject(refusal);
    await expect(credentials.forHttp(nameNode)).rejects.toMatchObject(refusal);
  });

  test("with kerberos a token opens what it is for, and never with a bare name beside it", async () => {
    const credentials = credentialsWith({ "hadoop.security.authentication": "KERBEROS" });
    expect(await credentials.forRpc({ ...rm, token })).toMatchObject([{ method: "TOKEN" }]);
  });

  test("with kerberos only the name is known, and the options are those of the site", async () => {
    const values = {
      "hadoop.security.authentication": "kerberos",
      "hadoop.rpc.protection": "integrity",
      "ssl.client.truststore.pem": "PEM",
    };
    const credentials = credentialsWith(values);
    expect(await credentials.user()).toBe("ada");
    expect(credentials.trustedCertificates).toBe("PEM");
    expect(await protectionsOf(await credentials.forRpc({ ...rm, token }))).toEqual(["auth-int"]);

    const given: unknown[] = [];
    const kerberos = (options: unknown) => {
      given.push(options);
      return credentials;
    };
    const configuration = new Configuration().withValues(values);
    const user = { name: "ada", realName: "bob" };
    expect(configuredCredentials(configuration, user, kerberos)).toBe(credentials);
    const options = { protections: ["auth-int", "auth-conf"], trustedCertificates: "PEM" };
    expect(given).toEqual([{ ...options, configuration, user, fallback: false }]);
  });

  test("without any the options are those of the site too", async () => {
    const values = { "hadoop.rpc.protection": "authentication", "ssl.client.truststore.pem": "PEM" };
    const credentials = credentialsWith(values);
    expect(credentials.trustedCertificates).toBe("PEM");
    expect(await protectionsOf(await credentials.forRpc({ ...rm, token }))).toEqual(["auth"]);
  });

  test("with kerberos and the fallback that Hadoop has for it, a name", async () => {
    const fallback = { "ipc.client.fallback-to-simple-auth-allowed": "true" };
    const credentials = credentialsWith({ "hadoop.security.authentication": "kerberos", ...fallback });
    expect(await credentials.forRpc(rm)).toMatchObject([{ method: "SIMPLE" }]);
  });

  test("anything else is an error that names the key", () => {
    expect(() => credentialsWith({ "hadoop.security.authentication": "ldap" })).toThrow(
      /hadoop.security.authentication must be simple or kerberos, not "ldap"/,
    );
  });
});

describe("what a configuration demands of protection", () => {
  test.each([
    [undefined, undefined],
    ["authentication", ["auth", "auth-int", "auth-conf"]],
    ["integrity", ["auth-int", "auth-conf"]],
    ["privacy", ["auth-conf"]],
    ["Privacy, integrity", ["auth-conf", "auth-int"]],
    ["authentication,privacy", ["auth", "auth-conf", "auth-int"]],
  ])("hadoop.rpc.protection = %s accepts %j", (value, expected) => {
    const values = value === undefined ? {} : { "hadoop.rpc.protection": value };
    expect(configuredProtections(new Configuration().withValues(values))).toEqual(expected);
  });

  test("an unknown one is an error that names the key", () => {
    const configuration = new Configuration().withValues({ "hadoop.rpc.protection": "secret" });
    expect(() => configuredProtections(configuration)).toThrow(
      /hadoop.rpc.protection must be one or more of .*"secret"/,
    );
  });
});
