import { createServer } from "node:https";
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from "@jest/globals";
import { makeServerKey } from "../../../src/api/server-key.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { errorCode } from "../../../src/hadoop/errors.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { nameNodeEndpoints, nameNodeTokenService } from "../../../src/hadoop/hdfs/namenodes.ts";
import { resolveMount } from "../../../src/hadoop/hdfs/viewfs.ts";
import type { CredentialsProvider } from "../../../src/hadoop/security/credentials-provider.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { answer, HostileHttpServer } from "../../support/hostile-http-server.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const variables = { environment: {}, systemProperties: { "user.name": "ada" } };
const site = (values: Record<string, string>) => new Configuration(variables).withValues(values);

const highlyAvailable = {
  "fs.defaultFS": "hdfs://prod",
  "dfs.nameservices": "prod,dev",
  "dfs.ha.namenodes.prod": "nn1, nn2",
  "dfs.namenode.rpc-address.prod.nn1": "a:8020",
  "dfs.namenode.rpc-address.prod.nn2": "b:8020",
  "dfs.namenode.http-address.prod.nn1": "a-web:50070",
  "dfs.namenode.http-address.prod.nn2": "0.0.0.0:50070",
  "dfs.namenode.rpc-address.dev": "c:9000",
};

describe("the web addresses of NameNodes", () => {
  test.each([
    ["one NameNode, nothing set", {}, "nn:8020", ["http://nn:9870", "http://nn:50070"]],
    ["no port in the URI", {}, "nn", ["http://nn:9870", "http://nn:50070"]],
    ["listening everywhere", { "dfs.namenode.http-address": "0.0.0.0:50070" }, "nn:8020", ["http://nn:50070"]],
    [
      "its own web host",
      { "fs.defaultFS": "hdfs://nn:8020/", "dfs.namenode.http-address": "web:50070" },
      "nn:8020",
      ["http://web:50070"],
    ],
    [
      "another cluster's NameNode",
      { "fs.defaultFS": "hdfs://nn:8020", "dfs.namenode.http-address": "web:50070" },
      "other:8020",
      ["http://other:50070"],
    ],
    ["listening everywhere by IPv6", { "dfs.namenode.http-address": "[::]:50070" }, "nn:8020", ["http://nn:50070"]],
    [
      "its own, listening everywhere",
      { "fs.defaultFS": "hdfs://nn:8020", "dfs.namenode.http-address": "0.0.0.0:50070" },
      "nn:8020",
      ["http://nn:50070"],
    ],
    [
      "its own web host, no port",
      { "fs.defaultFS": "hdfs://nn:8020", "dfs.namenode.http-address": "web" },
      "nn:8020",
      ["http://web:9870"],
    ],
    [
      "HTTPS only, in small letters",
      { "dfs.http.policy": "https_only" },
      "nn",
      ["https://nn:9871", "https://nn:50470"],
    ],
    ["HTTPS too", { "dfs.http.policy": "HTTP_AND_HTTPS" }, "nn", ["http://nn:9870", "http://nn:50070"]],
    ["HTTPS only", { "dfs.http.policy": "HTTPS_ONLY" }, "nn:8020", ["https://nn:9871", "https://nn:50470"]],
    ["an HA nameservice", highlyAvailable, "prod", ["http://a-web:50070", "http://b:50070"]],
    ["a nameservice of one NameNode", highlyAvailable, "dev", ["http://c:9870", "http://c:50070"]],
    ["a NameNode of a nameservice by its RPC address", highlyAvailable, "a:8020", ["http://a-web:50070"]],
    ["a NameNode of a nameservice by its RPC host", highlyAvailable, "a", ["http://a-web:50070"]],
    ["another program on a NameNode's machine", highlyAvailable, "a:9999", ["http://a:9870", "http://a:50070"]],
    [
      "a nameservice whose addresses have no ports",
      {
        "dfs.nameservices": "prod",
        "dfs.namenode.rpc-address.prod": "a",
        "dfs.namenode.http-address.prod": "a-web",
      },
      "a:8020",
      ["http://a-web:9870"],
    ],
  ])("%s", (_, values, authority, expected) => {
    expect(nameNodeEndpoints(site(values), authority)).toEqual(expected);
  });

  test("a NameNode without an address names the key", () => {
    const values = { "dfs.nameservices": "prod", "dfs.ha.namenodes.prod": "nn1" };
    expect(() => nameNodeEndpoints(site(values), "prod")).toThrow(
      "dfs.namenode.http-address.prod.nn1 is not set, nor is dfs.namenode.rpc-address.prod.nn1",
    );
  });
});

test("what is neither a nameservice nor a host is refused, naming the key", () => {
  expect(() => nameNodeEndpoints(site({}), "a b")).toThrow(
    'fs.defaultFS names "a b", which is neither host:port nor in dfs.nameservices',
  );
});

test.each([
  ["an HA nameservice", "prod", "ha-hdfs:prod"],
  ["an HA nameservice of one NameNode", "alone", "ha-hdfs:alone"],
  ["a nameservice of one NameNode", "dev", "c:9000"],
  ["a nameservice of one NameNode, no port set", "test", "d:8020"],
  ["a NameNode", "nn:9000", "nn:9000"],
  ["a NameNode, no port", "nn", "nn:8020"],
  ["a nameservice without an address", "spare", "spare:8020"],
  ["what has no address", "a b", "a b"],
])("the tokens of %s, %s, are filed under %s", (_what, authority, service) => {
  const values = {
    ...highlyAvailable,
    "dfs.nameservices": "prod,dev,test,spare",
    "dfs.ha.namenodes.alone": "nn1",
    "dfs.namenode.rpc-address.test": "d",
  };
  expect(nameNodeTokenService(site(values), authority)).toBe(service);
});

describe("a viewfs mount table", () => {
  const mounts = {
    "fs.viewfs.mounttable.c.link./user": "hdfs://one/user",
    "fs.viewfs.mounttable.c.link./user/shared": "hdfs://two/",
    "fs.viewfs.mounttable.c.linkNfly.minReplication=1./geo": "hdfs://one/g,hdfs://two/g",
    "fs.viewfs.mounttable.c.link./tools/": "file:///opt/tools/",
    "fs.viewfs.mounttable.cc.link./tmp": "hdfs://three/",
    "fs.viewfs.mounttable.default.linkFallback": "hdfs://one/",
    "fs.viewfs.mounttable.whole.linkMergeSlash": "hdfs://${name}/root",
    name: "four",
  };
  test.each([
    ["c", "/user/ada/x", "hdfs://one/user/ada/x"],
    ["c", "/user", "hdfs://one/user"],
    ["c", "/user/shared", "hdfs://two"],
    ["c", "/user/shared/x", "hdfs://two/x"],
    ["c", "/user/sharedness", "hdfs://one/user/sharedness"],
    ["c", "/tools", "file:///opt/tools"],
    ["c", "/tools/bin", "file:///opt/tools/bin"],
    ["", "/any", "hdfs://one/any"],
    ["", "/", "hdfs://one"],
    ["whole", "/any", "hdfs://four/root/any"],
  ])("leads viewfs://%s%s to %s", (authority, path, expected) => {
    expect(resolveMount(site(mounts), authority, path)).toBe(expected);
  });

  test("a path under no mount, and one under several file systems, name the key", () => {
    expect(() => resolveMount(site(mounts), "c", "/tmp")).toThrow(
      /^fs\.viewfs\.mounttable\.c\.link\.\/tmp is not set.*\(mounts: \/user, \/user\/shared, \/geo, \/tools\)/,
    );
    expect(() => resolveMount(site(mounts), "unknown", "/tmp")).toThrow("(mounts: none)");
    expect(() => resolveMount(site(mounts), "c", "/geo/x")).toThrow(
      "fs.viewfs.mounttable.c.linkNfly.minReplication=1./geo is a link to several file systems",
    );
    const merged = { "fs.viewfs.mounttable.c.linkMerge./m": "hdfs://one/,hdfs://two/" };
    expect(() => resolveMount(site(merged), "c", "/m")).toThrow("is a link to several file systems");
  });

  test("is named after the authority with its port, unless the site leaves that out", () => {
    const named = {
      "fs.viewfs.mounttable.c:8020.link./a": "hdfs://one/",
      "fs.viewfs.mounttable.c.link./a": "hdfs://two/",
    };
    expect(resolveMount(site(named), "c:8020", "/a")).toBe("hdfs://one");
    const ignoring = { ...named, "fs.viewfs.ignore.port.in.mount.table.name": "true" };
    expect(resolveMount(site(ignoring), "c:8020", "/a")).toBe("hdfs://two");
    const byDefault = { ...named, "fs.viewfs.mounttable.default.name.key": "c" };
    expect(resolveMount(site(byDefault), "", "/a")).toBe("hdfs://two");
  });
});

describe("a path's file system", () => {
  const open = (values: Record<string, string>, gateway?: string) =>
    new FileSystems({ configuration: site(values), credentials: simpleCredentials({ name: "ada" }), gateway });
  const uriOf = (values: Record<string, string>, path: string) => {
    const { fileSystem, path: located } = open(values).locate(path);
    return `${fileSystem.uri} ${located}`;
  };

  test.each([
    ["/tmp/x", "hdfs://prod /tmp/x"],
    ["hdfs:///tmp/x", "hdfs://prod /tmp/x"],
    ["hdfs://dev/tmp/x", "hdfs://dev /tmp/x"],
    ["hdfs://dev", "hdfs://dev /"],
    ["file:///tmp/x", "file:// /tmp/x"],
    ["file:/tmp/x", "file:// /tmp/x"],
    ["webhdfs://nn:9870/x", "webhdfs://nn:9870 /x"],
    ["HDFS://dev/x", "hdfs://dev /x"],
  ])("%s is %s", (path, expected) => {
    expect(uriOf(highlyAvailable, path)).toBe(expected);
  });

  test("is this machine's where the site names none", () => {
    expect(uriOf({}, "/tmp/x")).toBe("file:// /tmp/x");
  });

  test("is opened once", () => {
    const fileSystems = open(highlyAvailable);
    expect(fileSystems.locate("/a").fileSystem).toBe(fileSystems.locate("hdfs://prod/b").fileSystem);
  });

  test("behind viewfs is found by the mount table, the home too", async () => {
    const values = {
      ...highlyAvailable,
      "fs.defaultFS": "viewfs://c",
      "fs.viewfs.mounttable.c.link./user": "hdfs://prod/user",
    };
    expect(uriOf(values, "/user/ada/x")).toBe("hdfs://prod /user/ada/x");
    const home = async (more: Record<string, string>) => {
      const credentials = simpleCredentials({ name: "bob" });
      const { fileSystem, path } = await new FileSystems({
        configuration: site({ ...values, ...more }),
        credentials,
      }).home();
      return `${fileSystem.uri} ${path}`;
    };
    expect(await home({})).toBe("hdfs://prod /user/bob");
    const people = {
      "fs.viewfs.mounttable.c.homedir": "/people",
      "fs.viewfs.mounttable.c.link./people": "hdfs://dev/people",
    };
    expect(await home(people)).toBe("hdfs://dev /people/bob");
  });

  test("is printed to YARN with its nameservice, or with host and port", () => {
    expect(open(highlyAvailable).locate("/").fileSystem.resourceUrl("/x")).toEqual({
      scheme: "hdfs",
      host: "prod",
      port: -1,
      path: "/x",
    });
    expect(open({ "fs.defaultFS": "hdfs://nn:8020" }).locate("/").fileSystem.resourceUrl("/x")).toMatchObject({
      host: "nn",
      port: 8020,
    });
  });

  test("of which several are open is closed with the others", () => {
    const fileSystems = open(highlyAvailable);
    const closings = ["/a", "hdfs://dev/a"].map((path) => jest.spyOn(fileSystems.locate(path).fileSystem, "close"));
    fileSystems.close();
    for (const closing of closings) expect(closing).toHaveBeenCalledTimes(1);
  });

  test("of another scheme is refused, naming the key or the path", () => {
    expect(() => uriOf({ "fs.defaultFS": "s3a://bucket" }, "/x")).toThrow(
      'fs.defaultFS names the file system "s3a", which is not supported; supported are hdfs',
    );
    expect(() => uriOf(highlyAvailable, "abfs://c@a/x")).toThrow(
      'abfs://c@a/x: the file system "abfs" is not supported',
    );
    expect(() => uriOf({ "fs.defaultFS": "gs://b" }, "/x")).toThrow(
      expect.objectContaining({ code: "FILE_SYSTEM_UNSUPPORTED" }),
    );
    expect(() => uriOf({ "fs.defaultFS": "nn" }, "/x")).toThrow(
      "fs.defaultFS must be a URI such as hdfs://nameservice",
    );
  });
});

describe("a path's file system asks", () => {
  let server: HostileHttpServer;
  let opened: FileSystems;
  beforeAll(async () => {
    server = await HostileHttpServer.start();
  });
  afterEach(() => opened.close());
  afterAll(() => server.stop());

  /** Asks for a file twice of a server that is starting. @returns the error's code, and what the server was asked */
  async function ask(path: string, values: Record<string, string> = {}, gateway?: string) {
    server.behave(answer(503, ""));
    const services: (string | undefined)[] = [];
    const credentials: CredentialsProvider = {
      ...simpleCredentials({ name: "ada" }),
      forHttp: async ({ tokenService }) => {
        services.push(tokenService);
        return { begin: () => ({}) };
      },
    };
    const failover = { policy: { rounds: 2, firstPauseMs: 0, longestPauseMs: 0 }, sleep: async () => undefined };
    opened = new FileSystems({ configuration: site(values), credentials, gateway, webHdfs: { failover } });
    const { fileSystem, path: located } = opened.locate(path);
    const error: unknown = await fileSystem.stat(located).catch((thrown: unknown) => thrown);
    return { code: errorCode(error), asked: server.requests, services, fileSystem };
  }
  const twice = (path: string) => [`GET ${path}?op=GETFILESTATUS`, `GET ${path}?op=GETFILESTATUS`];
  const host = () => new URL(server.address).host;

  test("its NameNodes, with a token for the nameservice", async () => {
    const values = { ...highlyAvailable, "dfs.namenode.http-address.dev": host() };
    const { asked, services } = await ask("hdfs://dev/f", values);
    expect(asked).toEqual(twice("/webhdfs/v1/f"));
    expect(services).toEqual(["c:9000", "c:9000"]);
  });

  test("the web server that it names", async () => {
    const { asked, services } = await ask(`webhdfs://${host()}/f`);
    expect(asked).toEqual(twice("/webhdfs/v1/f"));
    expect(services).toEqual([undefined, undefined]);
  });

  test("the gateway alone where it is the default one, and no other", async () => {
    const gateway = `${server.address}/gate`;
    const values = { ...highlyAvailable, "dfs.namenode.http-address.dev": host() };
    const { asked, services, fileSystem } = await ask("/f", values, gateway);
    expect(asked).toEqual(twice("/gate/webhdfs/v1/f"));
    expect(services).toEqual([undefined, undefined]);
    // Behind a gateway nobody knows where blocks are.
    expect(await fileSystem.blockAt("/f")).toEqual({ isBeingWritten: false, hosts: [] });
    expect(server.requests).toHaveLength(2);
    expect((await ask("hdfs://dev/f", values, gateway)).asked).toEqual(twice("/webhdfs/v1/f"));
  });

  test("over TLS where it is swebhdfs", async () => {
    const { certificate: cert, privateKey: key } = makeServerKey("namenode", Date.now());
    const secure = createServer({ cert, key });
    await listenLocally(secure);
    expect((await ask(`swebhdfs://${localAddress(secure)}/f`)).code).toBe("UNTRUSTED");
    secure.close();
  });
});
