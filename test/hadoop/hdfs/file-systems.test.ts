import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { nameNodeEndpoints } from "../../../src/hadoop/hdfs/namenodes.ts";
import { resolveMount } from "../../../src/hadoop/hdfs/viewfs.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";

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
    ["HTTPS only", { "dfs.http.policy": "HTTPS_ONLY" }, "nn:8020", ["https://nn:9871", "https://nn:50470"]],
    ["an HA nameservice", highlyAvailable, "prod", ["http://a-web:50070", "http://b:50070"]],
    ["a nameservice of one NameNode", highlyAvailable, "dev", ["http://c:9870", "http://c:50070"]],
    ["a NameNode of a nameservice by its RPC address", highlyAvailable, "a:8020", ["http://a-web:50070"]],
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

describe("a viewfs mount table", () => {
  const mounts = {
    "fs.viewfs.mounttable.c.link./user": "hdfs://one/user",
    "fs.viewfs.mounttable.c.link./user/shared": "hdfs://two/",
    "fs.viewfs.mounttable.c.linkNfly.minReplication=1./geo": "hdfs://one/g,hdfs://two/g",
    "fs.viewfs.mounttable.default.linkFallback": "hdfs://one/",
  };
  test.each([
    ["c", "/user/ada/x", "hdfs://one/user/ada/x"],
    ["c", "/user", "hdfs://one/user"],
    ["c", "/user/shared", "hdfs://two"],
    ["c", "/user/shared/x", "hdfs://two/x"],
    ["c", "/user/sharedness", "hdfs://one/user/sharedness"],
    ["", "/any", "hdfs://one/any"],
  ])("leads viewfs://%s%s to %s", (authority, path, expected) => {
    expect(resolveMount(site(mounts), authority, path)).toBe(expected);
  });

  test("a path under no mount, and one under several file systems, name the key", () => {
    expect(() => resolveMount(site(mounts), "c", "/tmp")).toThrow(
      /^fs\.viewfs\.mounttable\.c\.link\.\/tmp is not set.*\(mounts: \/user, \/user\/shared, \/geo\)/,
    );
    expect(() => resolveMount(site(mounts), "c", "/geo/x")).toThrow("is a link to several file systems");
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
  ])("%s is %s", (path, expected) => {
    expect(uriOf(highlyAvailable, path)).toBe(expected);
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
    expect((await open(values).home()).path).toBe("/user/ada");
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
