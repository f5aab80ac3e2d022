import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { WebHdfs } from "../../../src/hadoop/hdfs/webhdfs.ts";
import { RpcClient } from "../../../src/hadoop/rpc/client.ts";
import { containerCredentials } from "../../../src/hadoop/security/container-credentials.ts";
import type { Credentials } from "../../../src/hadoop/security/credentials.ts";
import type { HttpService, RpcService } from "../../../src/hadoop/security/credentials-provider.ts";
import { delegatedCredentials } from "../../../src/hadoop/security/delegated-credentials.ts";
import { simple, simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { type Token, TokenKind } from "../../../src/hadoop/security/token.ts";
import { tokenFromUrlText } from "../../../src/hadoop/security/token-writable.ts";
import { protectedEcho } from "../../support/digest-server.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { RpcTestServer } from "../../support/rpc-server.ts";
import { protectionsOf } from "./presented.ts";

const resourceManager = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const tokenFor = (service: string, kind: string = TokenKind.hdfsDelegation): Token => ({
  identifier: Buffer.from(`id of ${service}`),
  password: Buffer.from("password"),
  kind,
  service,
});
const holding = (...tokens: readonly Token[]): Credentials => ({
  tokens: tokens.map((token) => ({ alias: token.service, token })),
  secrets: new Map(),
});
const addresses: Readonly<Record<string, readonly string[]>> = { "nn.example": ["10.0.0.1", "10.0.1.1"] };
const lookUp = async (host: string) => addresses[host] ?? Promise.reject(new Error(`no address of ${host}`));

/** The service of the token that is shown; "name" where the user's name is shown instead. */
async function shownOverHttp(held: Credentials, service: Partial<HttpService>): Promise<string> {
  const otherwise = simpleCredentials({ name: "ada" });
  const credentials = delegatedCredentials({ held: () => held, otherwise, lookUp });
  const asked = { transport: "http", url: new URL("http://nn.example:9870/"), redirected: false, ...service } as const;
  const { delegation } = (await (await credentials.forHttp(asked)).begin()).parameters ?? {};
  return delegation === undefined ? "name" : tokenFromUrlText(delegation).service;
}

describe("which delegation token a web server is shown", () => {
  test.each([
    ["the one for its nameservice", "ha-hdfs:ns", "ha-hdfs:ns"],
    ["the one for the IP address of its RPC, where services are named so", "10.0.1.1:8020", "nn.example:8020"],
    ["the one for the name of its RPC's host, where services are named so", "nn.example:8020", "nn.example:8020"],
    ["the one for its web address", "10.0.0.1:9870", undefined],
    ["the one for its web address, where its RPC has a name as well", "10.0.0.1:9870", "nn.example:8020"],
  ])("%s", async (_which, service, tokenService) => {
    const held = holding(tokenFor("elsewhere:8020"), tokenFor(service));
    expect(await shownOverHttp(held, { tokenService })).toBe(service);
  });

  test.each([
    ["is for another port", tokenFor("10.0.0.1:8021")],
    ["is for another nameservice", tokenFor("ha-hdfs:ns2")],
    ["is of another kind", tokenFor("10.0.0.1:8020", TokenKind.keyManagement)],
  ])("none that %s", async (_why, token) => {
    expect(await shownOverHttp(holding(token), { tokenService: "nn.example:8020" })).toBe("name");
  });

  test("none, where its host has no address: that error is the connection's", async () => {
    const asked = { url: new URL("http://gone.example:9870/"), tokenService: "gone.example:8020" };
    expect(await shownOverHttp(holding(tokenFor("10.0.0.1:8020")), asked)).toBe("name");
  });
});

test.each([
  ["http://nn.example/", "10.0.0.1:80"],
  ["https://nn.example/", "10.0.0.1:443"],
])("a web server at its usual port is shown the token for that port: %s", async (address, service) => {
  const held = holding(tokenFor("10.0.0.1:444"), tokenFor(service));
  expect(await shownOverHttp(held, { url: new URL(address) })).toBe(service);
});

test("with tokens, one is still who one is without: name, certificates, and what is newer than was refused", async () => {
  const refusals: unknown[] = [];
  const renewed = async (...refusal: unknown[]) => {
    refusals.push(refusal);
    return true;
  };
  const otherwise = { ...simpleCredentials({ name: "ada" }, { trustedCertificates: "PEM" }), renewed };
  const credentials = delegatedCredentials({ held: () => holding(), otherwise, lookUp });
  expect([credentials.trustedCertificates, await credentials.user()]).toEqual(["PEM", "ada"]);
  const service = { transport: "http", url: new URL("http://nn/"), redirected: false } as const;
  expect(await credentials.renewed?.(service, "refused")).toBe(true);
  expect(refusals).toEqual([[service, "refused"]]);
  const plain = delegatedCredentials({ held: () => holding(), otherwise: simpleCredentials({ name: "ada" }), lookUp });
  expect(await plain.renewed?.(service, "refused")).toBe(false);
});

describe("which delegation token an RPC server is shown", () => {
  const endpoints = [
    { host: "10.0.0.2", port: 8032 },
    { host: "10.0.0.3", port: 8032 },
  ] as const;
  const strategiesFor = (held: Credentials, changes: Partial<RpcService> = {}) => {
    // Whoever has no token for a service must not be shown one by these.
    const otherwise = { ...simpleCredentials({ name: "ada" }), forRpc: async () => [simple({ name: "ada" })] };
    const credentials = delegatedCredentials({ held: () => held, otherwise, lookUp, protections: ["auth-int"] });
    const [, endpoint] = endpoints;
    return credentials.forRpc({ transport: "rpc", protocol: resourceManager, endpoint, endpoints, ...changes });
  };
  const methodsFor = async (...asked: Parameters<typeof strategiesFor>) =>
    (await strategiesFor(...asked)).map(({ method }) => method);
  const ofManagers = tokenFor("10.0.0.2:8032,10.0.0.3:8032", TokenKind.resourceManagerDelegation);

  test("of several ResourceManagers each the one that is for them together", async () => {
    expect(await methodsFor(holding(ofManagers))).toEqual(["TOKEN"]);
  });

  test("none of another service's kind, and none for another protocol", async () => {
    expect(await methodsFor(holding(tokenFor("10.0.0.3:8032")))).toEqual(["SIMPLE"]);
    expect(await methodsFor(holding(ofManagers), { protocol: "another" })).toEqual(["SIMPLE"]);
  });

  test("what YARN gave for the service goes first", async () => {
    const token = tokenFor("", TokenKind.applicationMaster);
    expect(await methodsFor(holding(), { token })).toEqual(["TOKEN"]);
  });

  test("any with the protections that are accepted", async () => {
    expect(await protectionsOf(await strategiesFor(holding(ofManagers)))).toEqual(["auth-int"]);
  });

  test("a call goes through with it, protected", async () => {
    const options = { qop: "auth-conf", cipher: "rc4", maxBytes: 65_536, cutAt: 1_000 } as const;
    const token = tokenFor("", TokenKind.resourceManagerDelegation);
    const server = await RpcTestServer.start(protectedEcho({ token, ...options }));
    const { host, port } = server.endpoint;
    const held = holding({ ...token, service: `${host}:${port}` });
    const configuration = new Configuration().withValues({ "hadoop.security.authentication": "kerberos" });
    const credentials = containerCredentials(configuration, { name: "ada" }, () => held);
    const client = new RpcClient({ endpoints: [server.endpoint], protocol: resourceManager, credentials });
    closing.push(
      () => server.stop(),
      () => client.close(),
    );
    expect(Buffer.from(await client.call("echo", Buffer.from([3, 1, 2, 3])))).toEqual(Buffer.from([1, 2, 3]));
  });
});

describe("a process in a container", () => {
  const kerberos = { "hadoop.security.authentication": "kerberos" };

  /** A NameNode that tells the queries it was asked. */
  async function nameNode(): Promise<{ readonly origin: string; readonly asked: URLSearchParams[] }> {
    const asked: URLSearchParams[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(new URL(url, "http://nn").searchParams);
      response.end(JSON.stringify({ Path: "/user/ada" }));
    });
    await listenLocally(server);
    closing.push(
      () => new Promise((resolve) => server.close(resolve)),
      () => server.closeAllConnections(),
    );
    return { origin: `http://${localAddress(server)}`, asked };
  }

  function fileSystem(origin: string, values: Readonly<Record<string, string>>, held: () => Credentials): WebHdfs {
    const credentials = containerCredentials(new Configuration().withValues(values), { name: "ada" }, held);
    const options = { uri: "hdfs://ns", tokenService: "ha-hdfs:ns", endpoints: [origin] };
    const files = new WebHdfs({ ...options, credentials, failover: { sleep: async () => undefined } });
    closing.push(() => files.close());
    return files;
  }

  test("shows the newest token that it holds, and no name", async () => {
    const { origin, asked } = await nameNode();
    let held = holding(tokenFor("ha-hdfs:ns"));
    const files = fileSystem(origin, kerberos, () => held);
    await files.homeDirectory();
    held = holding({ ...tokenFor("ha-hdfs:ns"), identifier: Buffer.from("newer") });
    await files.homeDirectory();
    const shown = asked.map((query) => tokenFromUrlText(query.get("delegation") ?? "").identifier);
    expect(shown.map((identifier) => Buffer.from(identifier).toString())).toEqual(["id of ha-hdfs:ns", "newer"]);
    expect(asked.some((query) => query.has("user.name"))).toBe(false);
  });

  test("without a token asks nothing, and says which there are", async () => {
    const { origin, asked } = await nameNode();
    const files = fileSystem(origin, kerberos, () => holding(tokenFor("ha-hdfs:other")));
    const message = expect.stringMatching(/\(ha-hdfs:ns\); there are HDFS_DELEGATION_TOKEN for ha-hdfs:other$/);
    await expect(files.homeDirectory()).rejects.toMatchObject({ code: "AUTHENTICATION_FAILED", message });
    expect(asked).toEqual([]);
  });

  test("on a cluster that believes names shows the name, whatever tokens there are", async () => {
    const { origin, asked } = await nameNode();
    await fileSystem(origin, {}, () => holding(tokenFor("ha-hdfs:ns"))).homeDirectory();
    expect(asked.map((query) => [query.get("user.name"), query.has("delegation")])).toEqual([["ada", false]]);
  });
});
