import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { containerCredentials } from "../../../src/hadoop/security/container-credentials.ts";
import { type Credentials, noCredentials } from "../../../src/hadoop/security/credentials.ts";

const endpoint = { host: "rm", port: 8032 };
const rm = { transport: "rpc", protocol: "org.example.P", endpoint, endpoints: [endpoint] } as const;
const nameNode = { transport: "http", url: new URL("http://nn:9870/"), redirected: false } as const;
const kerberos = { "hadoop.security.authentication": "kerberos", "ssl.client.truststore.pem": "PEM" };

const credentialsWith = (values: Readonly<Record<string, string>>, held: Credentials = noCredentials) =>
  containerCredentials(new Configuration().withValues(values), { name: "ada" }, () => held);

describe("a process in a container of a cluster that authenticates everybody", () => {
  test("has its user's name, and trusts the certificates that it was given", async () => {
    const credentials = credentialsWith(kerberos);
    expect(await credentials.user()).toBe("ada");
    expect(credentials.trustedCertificates).toBe("PEM");
  });

  test("without a token for a server says for which, and which tokens there are", async () => {
    const of = (kind: string, service: string) => ({
      alias: service,
      token: { identifier: new Uint8Array(), password: new Uint8Array(), kind, service },
    });
    const held = { ...noCredentials, tokens: [of("HDFS_DELEGATION_TOKEN", "ha-hdfs:x"), of("kms-dt", "")] };
    await expect(credentialsWith(kerberos, held).forRpc(rm)).rejects.toMatchObject({
      code: "TOKEN_MISSING",
      message:
        "There is no delegation token for org.example.P; there are HDFS_DELEGATION_TOKEN for ha-hdfs:x, kms-dt for any",
    });
    await expect(credentialsWith(kerberos).forHttp(nameNode)).rejects.toMatchObject({
      code: "TOKEN_MISSING",
      message: "There is no delegation token for nn:9870; there are none at all",
    });
    const named = credentialsWith(kerberos).forHttp({ ...nameNode, tokenService: "ha-hdfs:ns" });
    await expect(named).rejects.toThrow("There is no delegation token for nn:9870 (ha-hdfs:ns); there are none at all");
  });

  test("says its name where the site allows that beside Kerberos", async () => {
    const credentials = credentialsWith({ ...kerberos, "ipc.client.fallback-to-simple-auth-allowed": "true" });
    expect(await credentials.forRpc(rm)).toMatchObject([{ method: "SIMPLE" }]);
    expect(await (await credentials.forHttp(nameNode)).begin()).toEqual({ parameters: { "user.name": "ada" } });
    expect(credentials.trustedCertificates).toBe("PEM");
  });
});
