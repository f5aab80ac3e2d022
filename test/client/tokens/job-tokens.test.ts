import { createServer } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { jobTokens, type TokenCluster } from "../../../client/tokens/job-tokens.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import type { Credentials } from "../../../src/hadoop/security/credentials.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import type { Token } from "../../../src/hadoop/security/token.ts";
import { tokenToUrlText } from "../../../src/hadoop/security/token-writable.ts";
import { freshTokens, usedFileSystems } from "../../../src/tokens/token-issuers.ts";
import { searchOf } from "../../job/search/support.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const issued: Token = {
  identifier: Buffer.from("id"),
  password: Buffer.from("pw"),
  kind: "WEBHDFS delegation",
  service: "",
};

/** A NameNode that gives tokens, or refuses; `asked` has the renewers that it was told. */
async function nameNode(refusal?: string) {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    const query = new URL(url, "http://nn").searchParams;
    asked.push(`${query.get("op")} ${query.get("renewer")}`);
    const exception = { exception: "IOException", javaClassName: "java.io.IOException", message: refusal };
    if (refusal !== undefined) response.writeHead(403).end(JSON.stringify({ RemoteException: exception }));
    else response.end(JSON.stringify({ Token: { urlString: tokenToUrlText(issued) } }));
  });
  await listenLocally(server);
  closing.push(
    () => new Promise((resolve) => server.close(resolve)),
    () => server.closeAllConnections(),
  );
  return { address: localAddress(server), asked };
}

function clusterWith(
  web: string,
  changes: Partial<TokenCluster> = {},
  hadoop: Record<string, string> = {},
): TokenCluster {
  const configuration = new Configuration().withValues({
    "fs.defaultFS": "hdfs://ns",
    "dfs.nameservices": "ns,ns2",
    "dfs.ha.namenodes.ns": "nn1",
    "dfs.namenode.http-address.ns.nn1": web,
    "dfs.namenode.rpc-address.ns2": "127.0.0.1:8020",
    "dfs.namenode.http-address.ns2": web,
    "yarn.resourcemanager.hostname": "127.0.0.9",
    "yarn.resourcemanager.principal": "rm/rm.example@EXAMPLE",
    ...hadoop,
  });
  const uriOf = (path: string) => (path.startsWith("/") ? "hdfs://ns" : path.replace(/^(\w+:\/\/[^/]*).*/, "$1"));
  return {
    isSecured: true,
    given: undefined,
    configuration,
    own: simpleCredentials({ name: "ada" }),
    fileSystems: { locate: (path) => ({ fileSystem: { uri: uriOf(path) } }) },
    resourceManager: { delegationToken: async () => ({ ...issued, kind: "RM_DELEGATION_TOKEN" }) },
    ...changes,
  };
}

const kindsAndServices = ({ tokens }: Credentials) =>
  tokens.map(({ alias, token }) => [token.kind, token.service, alias]);
const ofManager = ["RM_DELEGATION_TOKEN", "127.0.0.9:8032", "127.0.0.9:8032"];
const twoManagers = {
  "yarn.resourcemanager.ha.enabled": "true",
  "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
  "yarn.resourcemanager.hostname.rm1": "127.0.0.8",
  "yarn.resourcemanager.hostname.rm2": "127.0.0.9",
};
const ofNameService = ["HDFS_DELEGATION_TOKEN", "ha-hdfs:ns", "ha-hdfs:ns"];

describe("the delegation tokens of a job", () => {
  test("are none on a cluster that believes names", async () => {
    const none = await jobTokens(clusterWith("nobody:1", { isSecured: false }), [{ uri: "hdfs://ns" }]);
    expect(none).toEqual({ credentials: { tokens: [], secrets: new Map() }, cancelTokensWhenComplete: true });
  });

  test("are one for each file system, as YARN's nodes look for it, and one for the ResourceManager, renewed by it", async () => {
    const { address, asked } = await nameNode();
    const used = [
      { uri: "/user/ada" },
      { uri: "hdfs://ns/cache/node" },
      { uri: "hdfs://ns2/data" },
      { uri: "file:///opt" },
    ];
    const tokens = await jobTokens(clusterWith(address), used);
    const { credentials, cancelTokensWhenComplete } = tokens;
    const ofOther = ["HDFS_DELEGATION_TOKEN", "127.0.0.1:8020", "127.0.0.1:8020"];
    expect(kindsAndServices(credentials)).toEqual([ofNameService, ofOther, ofManager]);
    expect(cancelTokensWhenComplete).toBe(true);
    expect(Object.keys(tokens).sort()).toEqual(["cancelTokensWhenComplete", "credentials"]);
    expect(new Set(asked)).toEqual(new Set(["GETDELEGATIONTOKEN rm/rm.example@EXAMPLE"]));
  });

  test("are one more for the server with the keys of encryption zones; of several, from the first that answers", async () => {
    const { address, asked } = await nameNode();
    const provider = `kms://http@127.255.255.254;${address}/kms`;
    const hadoop = { "hadoop.security.key.provider.path": provider };
    const { credentials } = await jobTokens(clusterWith(address, {}, hadoop), []);
    expect(kindsAndServices(credentials)).toEqual([[issued.kind, provider, provider], ofManager]);
    expect(asked).toEqual(["GETDELEGATIONTOKEN rm/rm.example@EXAMPLE"]);
  });

  test("are not renewed where the ResourceManager is said not to reach the NameNode", async () => {
    const { address, asked } = await nameNode();
    const hadoop = { "mapreduce.job.hdfs-servers.token-renewal.exclude": "elsewhere,ns" };
    await jobTokens(clusterWith(address, {}, hadoop), [{ uri: "/" }]);
    expect(asked).toEqual(["GETDELEGATIONTOKEN "]);
  });

  test("go with what the ResourceManager needs to know of nameservices that it does not", async () => {
    const { address } = await nameNode();
    const hadoop = { "mapreduce.job.send-token-conf": "dfs\\.nameservices" };
    const { tokensConf = new Uint8Array() } = await jobTokens(clusterWith(address, {}, hadoop), [{ uri: "/" }]);
    expect(Buffer.from(tokensConf).toString("latin1")).toBe("\x01\x10dfs.nameservices\x06ns,ns2\xff\xff\xff\xff");
  });

  describe("where this process was given some", () => {
    const given = (...services: readonly string[]) => ({
      file: "/tokens",
      owner: "ada",
      credentials: {
        tokens: services.map((service) => ({ alias: "theirs", token: { ...issued, kind: "K", service } })),
        secrets: new Map([["theirs", Buffer.from("secret")]]),
      },
    });

    test("are those, all of them, which YARN leaves valid, and a person is told so", async () => {
      const cluster = clusterWith("nobody:1", { given: given("ha-hdfs:ns", "127.0.0.9:8032", "elsewhere:1") });
      const { credentials, cancelTokensWhenComplete, remark } = await jobTokens(cluster, [{ uri: "/" }]);
      expect(credentials).toEqual(cluster.given?.credentials);
      expect(cancelTokensWhenComplete).toBe(false);
      expect(remark).toMatch(/^ {2}tokens {2}those of \/tokens, which stay valid when the job has ended/);
    });

    test.each([["127.0.0.8:8032,127.0.0.9:8032"], ["127.0.0.9:8032,127.0.0.8:8032"]])(
      "are those for both of two ResourceManagers: %s",
      async (service) => {
        const cluster = clusterWith("nobody:1", { given: given("ha-hdfs:ns", service) }, twoManagers);
        const { credentials } = await jobTokens(cluster, [{ uri: "/" }]);
        expect(credentials).toEqual(cluster.given?.credentials);
      },
    );

    test("lack one for two ResourceManagers where it is for one of them alone", async () => {
      const cluster = clusterWith("nobody:1", { given: given("127.0.0.9:8032") }, twoManagers);
      const { credentials } = await jobTokens(cluster, []);
      const ofBoth = "127.0.0.8:8032,127.0.0.9:8032";
      expect(kindsAndServices(credentials)).toEqual([
        ["K", "127.0.0.9:8032", "theirs"],
        ["RM_DELEGATION_TOKEN", ofBoth, ofBoth],
      ]);
    });

    test("are completed with what is missing among them", async () => {
      const { address } = await nameNode();
      const cluster = clusterWith(address, { given: given("127.0.0.9:8032") });
      const { credentials } = await jobTokens(cluster, [{ uri: "/" }]);
      expect(kindsAndServices(credentials)).toEqual([["K", "127.0.0.9:8032", "theirs"], ofNameService]);
      expect(credentials.secrets).toEqual(cluster.given?.credentials.secrets);
    });

    test("are not enough where a file system refuses the one that they lack", async () => {
      const { address } = await nameNode("only with kerberos");
      const cluster = clusterWith(address, { given: given("127.0.0.9:8032") });
      await expect(jobTokens(cluster, [{ uri: "/" }])).rejects.toMatchObject({
        code: "TOKEN_NOT_OBTAINED",
        message: expect.stringMatching(
          /^hdfs:\/\/ns gives no delegation token: .*only with kerberos.*; \/tokens has none for it/,
        ),
      });
    });

    test("may lack one of the key server, and a person is told what cannot be read then", async () => {
      const provider = "kms://http@127.255.255.254/kms";
      const hadoop = { "hadoop.security.key.provider.path": provider };
      const cluster = clusterWith("nobody:1", { given: given("ha-hdfs:ns", "127.0.0.9:8032") }, hadoop);
      const { credentials, remark } = await jobTokens(cluster, [{ uri: "/" }]);
      expect(credentials).toEqual(cluster.given?.credentials);
      expect(remark).toContain(`; files of encryption zones cannot be read: no token of the key server ${provider}`);
      await expect(jobTokens({ ...cluster, given: undefined }, [])).rejects.toThrow(/^The key server kms/);
    });
  });

  describe("of a timeline server", () => {
    const enabled = { "yarn.timeline-service.enabled": "true" };
    const at = (address: string) => ({ ...enabled, "yarn.timeline-service.webapp.address": address });

    test("are the job's where the cluster has one", async () => {
      const { address, asked } = await nameNode();
      const { credentials, remark } = await jobTokens(clusterWith("nobody:1", {}, at(address)), []);
      expect(asked).toEqual(["GETDELEGATIONTOKEN rm/rm.example@EXAMPLE"]);
      expect(kindsAndServices(credentials)).toContainEqual(["WEBHDFS delegation", address, address]);
      expect(remark).toBeUndefined();
    });

    test("are not asked for of one of version 2", async () => {
      const second = { ...at("nobody:1"), "yarn.timeline-service.version": "2.0f" };
      const { credentials } = await jobTokens(clusterWith("nobody:1", {}, second), []);
      expect(credentials.tokens).toHaveLength(1);
    });

    test("are wanted, unless the cluster says that its clients may do without", async () => {
      const { address } = await nameNode("no");
      await expect(jobTokens(clusterWith("nobody:1", {}, at(address)), [])).rejects.toThrow(
        /^The timeline server 127\.0\.0\.1:\d+ gives no delegation token: .*answered HTTP 403/,
      );
      const bestEffort = { ...at(address), "yarn.timeline-service.client.best-effort": "true" };
      const { credentials, remark } = await jobTokens(clusterWith("nobody:1", {}, bestEffort), []);
      expect(credentials.tokens).toHaveLength(1);
      expect(remark).toMatch(/^ {2}tokens {2}programs cannot write to the timeline: no token of the timeline server/);
      expect(await freshTokens(clusterWith("nobody:1", {}, bestEffort), [])).toHaveLength(1);
    });
  });

  describe("behind a gateway, from where no NameNode can be reached", () => {
    const used = [{ uri: "/" }, { uri: "webhdfs://gateway:14000", namedBy: "tony.hdfs.endpoint" }];
    const unreached = (address: string, hadoop: Record<string, string> = {}) => {
      const { fileSystems, ...cluster } = clusterWith("127.0.0.1:1", {}, hadoop);
      const here = (uri: string) => fileSystems.locate(uri.replace("gateway:14000", address));
      return { ...cluster, fileSystems: { locate: here } };
    };

    test("are the gateway's and the ResourceManager's, where that obtains the NameNode's for the nodes itself", async () => {
      const { address } = await nameNode();
      const cluster = unreached(address, { "yarn.resourcemanager.proxy-user-privileges.enabled": "true" });
      // Side by side: each tries the NameNode again for some seconds.
      const [{ credentials, remark }, fresh] = await Promise.all([
        jobTokens(cluster, used),
        freshTokens(cluster, used),
        expect(jobTokens(cluster, [...used, { uri: "hdfs://ns2" }])).rejects.toThrow(/^hdfs:\/\/ns2 gives no/),
      ]);
      expect(kindsAndServices(credentials)).toEqual([["WEBHDFS delegation", address, address], ofManager]);
      expect(remark).toBe(
        "  tokens  YARN stores no logs of this job, and its programs cannot open hdfs://ns by Hadoop's own clients: no token of it is among them",
      );
      expect(fresh).toHaveLength(2);
    });

    test("are refused elsewhere, with the key that would do", async () => {
      const { address } = await nameNode();
      await expect(jobTokens(unreached(address), used)).rejects.toThrow(
        /^hdfs:\/\/ns gives no delegation token: .*; nodes need it: .*yarn\.resourcemanager\.proxy-user-privileges\.enabled=true/,
      );
    });
  });

  test("that cannot be had are an error with the service, and where a person named it", async () => {
    const { address } = await nameNode("Delegation Token can be issued only with kerberos or web authentication");
    const spec = aJobSpec({ otherNameNodes: ["hdfs://ns2"], sources: { "tony.other.namenodes": "job.xml:12" } });
    const used = usedFileSystems(spec, { master: [], all: [], byRole: {} }, "file:///staging", undefined);
    await expect(jobTokens(clusterWith(address), used)).rejects.toMatchObject({
      code: "TOKEN_NOT_OBTAINED",
      exitCode: 3,
      message: expect.stringMatching(
        /^hdfs:\/\/ns2, which tony\.other\.namenodes \(job\.xml:12\) names, gives no delegation token: .*only with kerberos/,
      ),
    });
    const refused = async () => Promise.reject(new Error("only with kerberos"));
    const silent = clusterWith(address, { resourceManager: { delegationToken: refused } });
    await expect(jobTokens(silent, [])).rejects.toThrow(
      "The ResourceManager gives no delegation token: only with kerberos",
    );
  });
});

test("a job's file systems are those of its staging folder, its files and the folders that it writes to", () => {
  const file = { link: "f", sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "PRIVATE" } as const;
  const spec = aJobSpec({
    checkpointDir: "hdfs://c/1",
    search: { ...searchOf({ x: "float 0 1" }), outputDir: "hdfs://o/1" },
  });
  const shipped = {
    master: [{ ...file, url: "hdfs://m/1" }],
    all: [],
    byRole: { worker: [{ ...file, url: "hdfs://w/1" }] },
  };
  const used = usedFileSystems(spec, shipped, "hdfs://staging", undefined).map(({ uri }) => uri);
  expect(used).toEqual(["hdfs://staging", "hdfs://c/1", "hdfs://o/1", "hdfs://m/1", "hdfs://w/1"]);
});

test.each([
  ["https://httpfs:14000", ["swebhdfs://httpfs:14000/"]],
  ["http://httpfs:14000/", ["webhdfs://httpfs:14000/"]],
  ["https://knox:8443/gateway/default", []],
])("a job whose processes ask the gateway %s needs its token, too, where it is an HttpFS", (endpoint, expected) => {
  const [, ...gateways] = usedFileSystems(
    aJobSpec({}),
    { master: [], all: [], byRole: {} },
    "hdfs://staging",
    endpoint,
  );
  expect(gateways.map(({ uri }) => uri)).toEqual(expected);
});
