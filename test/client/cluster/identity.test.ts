import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { identityOn, notLoggedIn } from "../../../client/cluster/identity.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { writeText, writeVint } from "../../../src/hadoop/security/writable.ts";

const folder = mkdtempSync(join(tmpdir(), "tony-identity-"));
afterAll(() => rmSync(folder, { recursive: true }));

const open = new Configuration();
const secured = open.withValues({ "hadoop.security.authentication": "kerberos" });
const keytab = { principal: "alice@EXAMPLE.COM", keytab: join(folder, "none") };

/** The environment of a process that was given a token of that owner for the HDFS at nn:8020. */
function tokensOf(owner: string): Readonly<Record<string, string>> {
  const identifier = Buffer.concat([
    ...[writeVint(0), writeText(owner), writeText("yarn"), writeText("")],
    ...[writeVint(1), writeVint(2)],
  ]);
  const kind = "HDFS_DELEGATION_TOKEN";
  const token = { identifier, password: Buffer.from("pw"), kind, service: "127.0.0.1:8020" };
  const file = join(folder, "tokens");
  writeFileSync(file, writeTokenFile({ tokens: [{ alias: "nn", token }], secrets: new Map() }));
  return { HADOOP_TOKEN_FILE_LOCATION: file, HADOOP_USER_NAME: "bob" };
}

test.each([["ada"], ["ada@EXAMPLE.COM"], ["ada/host.example@EXAMPLE.COM"]])(
  "who was given tokens of %s acts as ada, and logs in for nothing",
  async (owner) => {
    const identity = await identityOn(secured, tokensOf(owner), keytab);
    expect(identity).toMatchObject({ user: "ada", isSecured: true, given: { owner }, login: undefined });
  },
);

test("given tokens are shown to the servers that they are for, under the protection that the site wants", async () => {
  const wanting = secured.withValues({ "hadoop.rpc.protection": "privacy" });
  const { credentials } = await identityOn(wanting, tokensOf("ada"), keytab);
  const endpoint = { host: "127.0.0.1", port: 8020 };
  const protocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
  const [strategy] = await credentials.forRpc({ transport: "rpc", protocol, endpoint, endpoints: [endpoint] });
  expect(strategy?.method).toBe("TOKEN");
  const challenge = Buffer.from('realm="default",nonce="n",qop="auth",charset=utf-8,algorithm=md5-sess');
  const offer = { method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "", serverId: "default", challenge };
  const mechanism = await strategy?.start(offer);
  expect(() => mechanism?.respond(challenge)).toThrow(/auth-conf|privacy/);
});

test("a cluster that believes names takes the environment's, whatever tokens there are", async () => {
  const identity = await identityOn(open, tokensOf("ada"), undefined);
  expect(identity).toMatchObject({ user: "bob", isSecured: false, given: undefined, login: undefined });
  expect(identity.credentials).toBe(identity.own);
});

test("without a keytab's file nobody is logged in where proofs are wanted, which is the cluster's exit code", async () => {
  await expect(identityOn(secured, {}, keytab)).rejects.toMatchObject({
    ...{ name: "UserError", code: "KERBEROS_KEYTAB", exitCode: 3 },
    cause: expect.any(AuthenticationError),
  });
});

test("an error that is no failed login stays what it is", () => {
  const error = new Error("no");
  expect(notLoggedIn(error)).toBe(error);
});
