import { createServer } from "node:https";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { makeServerKey } from "../../../src/api/server-key.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import {
  hdfsDelegationToken,
  hdfsTokenService,
  keyProvider,
  kmsDelegationToken,
} from "../../../src/hadoop/hdfs/delegation-token.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { tokenToUrlText } from "../../../src/hadoop/security/token-writable.ts";
import { answer, HostileHttpServer, refusal } from "../../support/hostile-http-server.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const site = (values: Record<string, string>) =>
  new Configuration({ environment: {}, systemProperties: { "user.name": "ada" } }).withValues(values);
const highlyAvailable = { "dfs.nameservices": "prod", "dfs.ha.namenodes.prod": "nn1,nn2" };

test.each([
  ["hdfs://prod", "ha-hdfs:prod"],
  ["hdfs://nn", "nn:8020"],
  ["hdfs://nn:9000/user", "nn:9000"],
  ["webhdfs://nn:9870", "nn:9870"],
  ["swebhdfs://nn:9871/x", "nn:9871"],
  ["s3a://bucket", undefined],
  ["file:///tmp", undefined],
  ["/tmp", undefined],
])("the tokens of %s are filed under %s", (uri, service) => {
  expect(hdfsTokenService(uri, site(highlyAvailable))).toBe(service);
});

describe("a delegation token of a file system", () => {
  const token = { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "WEBHDFS delegation", service: "" };
  const given = answer(200, { Token: { urlString: tokenToUrlText(token) } });
  let server: HostileHttpServer;
  beforeAll(async () => {
    server = await HostileHttpServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => server.behave(given));

  const lookUp = async (host: string) => [host === "localhost" ? "127.0.0.1" : "10.0.0.9"];
  const options = { credentials: simpleCredentials({ name: "ada" }), renewer: "rm/h@R", lookUp };
  const address = () => new URL(server.address).host;
  const fetch = (uri: string, values: Record<string, string> = {}) =>
    hdfsDelegationToken(uri, {
      ...options,
      configuration: site(values),
      failover: { policy: { rounds: 1, firstPauseMs: 0, longestPauseMs: 0 }, sleep: async () => undefined },
    });

  /** A nameservice of one NameNode, whose web server is ours. */
  const ofOneNameNode = (rpc: string) => ({
    "dfs.nameservices": "one",
    "dfs.namenode.rpc-address.one": rpc,
    "dfs.namenode.http-address.one": address(),
  });

  test("is asked of its NameNode's web server with who may renew it, and is one for the NameNode's RPC", async () => {
    const found = await fetch("hdfs://nn:8020", ofOneNameNode("nn:8020"));
    expect(found).toMatchObject({ kind: "HDFS_DELEGATION_TOKEN", service: "10.0.0.9:8020" });
    expect([Array.from(found.identifier), Array.from(found.password)]).toEqual([[1], [2]]);
    expect(server.requests).toEqual(["GET /webhdfs/v1/?op=GETDELEGATIONTOKEN&renewer=rm%2Fh%40R&user.name=ada"]);
  });

  test("is that of the NameNode that is active, and of a nameservice that is named", async () => {
    server.behave(refusal(403, "StandbyException", "not I"), given);
    const values = {
      ...highlyAvailable,
      "dfs.namenode.http-address.prod.nn1": address(),
      "dfs.namenode.http-address.prod.nn2": address(),
    };
    expect(await fetch("hdfs://prod", values)).toMatchObject({
      kind: "HDFS_DELEGATION_TOKEN",
      service: "ha-hdfs:prod",
    });
    expect(server.requests).toHaveLength(2);
  });

  test("keeps its kind where the web server is the file system", async () => {
    const { port } = new URL(server.address);
    expect(await fetch(`webhdfs://localhost:${port}`)).toMatchObject({
      kind: "WEBHDFS delegation",
      service: `127.0.0.1:${port}`,
    });
  });

  test("is asked for over TLS where the file system is", async () => {
    const { certificate: cert, privateKey: key } = makeServerKey("namenode", Date.now());
    const secure = createServer({ cert, key });
    await listenLocally(secure);
    await expect(fetch(`swebhdfs://${localAddress(secure)}`)).rejects.toMatchObject({ code: "UNTRUSTED" });
    secure.close();
  });

  test("that is refused, or none, is an error", async () => {
    server.behave(refusal(403, "AccessControlException", "no"));
    await expect(fetch(`webhdfs://${address()}`)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    server.behave(answer(200, { Token: null }));
    await expect(fetch(`webhdfs://${address()}`)).rejects.toMatchObject({ code: "TOKEN_MALFORMED" });
  });
});

describe("a key server", () => {
  test.each([
    ["kms://https@kms:9600/kms", "kms://https@kms:9600/kms"],
    ["jceks://file/keys", undefined],
    [undefined, undefined],
  ])("of %s", (value, expected) => {
    const values = value === undefined ? {} : { "hadoop.security.key.provider.path": value };
    expect(keyProvider(site(values))).toBe(expected);
  });

  test.each(["kms://https@kms:9600", "kms://ftp@kms/kms", "kms://kms:9600/kms"])(
    "that cannot be addressed is not looked for: %s",
    async (provider) => {
      const options = { credentials: simpleCredentials({ name: "ada" }), renewer: "" };
      await expect(kmsDelegationToken(provider, options)).rejects.toMatchObject({
        code: "CONFIGURATION",
        message: `hadoop.security.key.provider.path names no key server: ${provider}`,
      });
    },
  );
});
