import { describe, expect, test } from "@jest/globals";
import { addressProblems } from "../../../client/cluster/address-checks.ts";
import type { Network } from "../../../client/cluster/network.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { formatHostPort } from "../../../src/hadoop/conf/values.ts";
import { formatProblem } from "../../../src/job/problem.ts";

const hosts: Readonly<Record<string, readonly string[]>> = {
  nn: ["10.0.0.1"],
  "nn.example": ["10.0.0.1"],
  other: ["10.0.0.2", "10.0.0.3"],
  half: ["10.0.0.9", "10.0.0.3"],
  gone: [],
  here: ["127.0.1.1"],
  here6: ["::1"],
  "2001:db8::9": [],
};

async function told(
  values: Readonly<Record<string, string>>,
  { gateway, refused = [] }: { readonly gateway?: string; readonly refused?: readonly string[] } = {},
): Promise<string[]> {
  const network: Network = {
    addressesOf: async (host) => hosts[host.toLowerCase()],
    refuses: async (server) => refused.includes(formatHostPort(server)),
  };
  const configuration = new Configuration().withValues(values);
  return (await addressProblems({ configuration, gateway }, network)).map(formatProblem);
}

describe("the file system's address", () => {
  const web = { "dfs.namenode.http-address": "nn:9870" };

  test("is warned of where Java reads no host in it", async () => {
    const mend = "use its address, or a name without";
    for (const values of [{ ...web, "fs.defaultFS": "hdfs://nn_1.example:8020" }, { "fs.defaultFS": "hdfs://nn_1" }]) {
      expect(await told(values)).toEqual([expect.stringMatching(/^warning: fs\.defaultFS names the host nn_1/)]);
      expect(await told(values)).toEqual([expect.stringContaining(mend)]);
    }
  });

  test("is warned of where this machine does not know its host, and reaches another one", async () => {
    expect(await told({ ...web, "fs.defaultFS": "hdfs://gone:8020" })).toEqual([
      expect.stringMatching(
        /^warning: fs\.defaultFS names the host gone, which this machine does not know: nodes that do not know it cannot fetch the job's files, while tony-ts sends them to nn \(dfs\.namenode\.http-address\)$/,
      ),
    ]);
  });

  test("is warned of where it has no address of the server that files are sent to", async () => {
    expect(await told({ ...web, "fs.defaultFS": "hdfs://other:8020" })).toEqual([
      expect.stringMatching(
        /^warning: fs\.defaultFS names the host other: .*sends them to nn .*unless both are the same NameNode/,
      ),
    ]);
  });

  test.each([
    ["the same host", "hdfs://nn:8020", web],
    ["the same host, written otherwise", "hdfs://GONE:8020", { "dfs.namenode.http-address": "gone:9870" }],
    ["the same address", "hdfs://[2001:db8::9]:8020", { "dfs.namenode.http-address": "[2001:db8::9]:9870" }],
    ["another name of it", "hdfs://nn.example:8020", web],
    ["a host that has one of its addresses", "hdfs://half:8020", { "dfs.namenode.http-address": "other:9870" }],
    ["a host of which the resolver says nothing", "hdfs://unanswered:8020", web],
    ["a loopback address, as tunnels have", "hdfs://nn:8020", { "dfs.namenode.http-address": "here:9870" }],
    ["a loopback address of IPv6", "hdfs://nn:8020", { "dfs.namenode.http-address": "here6:9870" }],
    ["no web address", "hdfs://gone:8020", {}],
    ["a nameservice", "hdfs://my_ns", { "dfs.nameservices": "my_ns", "dfs.namenode.rpc-address.my_ns": "nn:8020" }],
    ["another kind of file system, whose names are none of hosts", "viewfs://my_cluster", web],
    ["an address that is told of elsewhere", "hdfs://gone:8020", { "dfs.namenode.http-address": "nn:port" }],
  ])("is not warned of with %s", async (_case, fileSystem, more) => {
    expect(await told({ ...more, "fs.defaultFS": fileSystem })).toEqual([]);
  });

  test("is not warned of behind a gateway, from where this machine need not know it", async () => {
    expect(await told({ ...web, "fs.defaultFS": "hdfs://gone:8020" }, { gateway: "http://gateway:14000" })).toEqual([]);
  });
});

describe("where ApplicationMasters look for the ResourceManager", () => {
  const rm = "yarn.resourcemanager";
  const scheduler = `${rm}.scheduler.address`;

  test("is warned of where connections are refused", async () => {
    const values = { [`${rm}.hostname`]: "nn", [scheduler]: "nn:9" };
    expect(await told(values, { refused: ["nn:9"] })).toEqual([
      "warning: ApplicationMasters look for the ResourceManager at yarn.resourcemanager.scheduler.address = nn:9, " +
        "where connections from this machine are refused: if those from nodes are, too, the job stays ACCEPTED; " +
        "copy the cluster's own yarn-site.xml, or set the key",
    ]);
    expect(await told(values)).toEqual([]);
    const guessed = await told({ [`${rm}.address`]: "nn:18032" }, { refused: ["nn:8030"] });
    expect(guessed).toEqual([expect.stringMatching(/at nn:8030, from the host in .* is not set, where connections/)]);
  });

  test("is not warned of where a standby alone refuses them", async () => {
    const masters = { [`${rm}.ha.enabled`]: "true", [`${rm}.ha.rm-ids`]: "a,b" };
    const values = { ...masters, [`${rm}.hostname.a`]: "nn", [`${rm}.hostname.b`]: "other" };
    expect(await told(values, { refused: ["nn:8030"] })).toEqual([]);
    expect(await told(values, { refused: ["nn:8030", "other:8030"] })).toEqual([
      expect.stringContaining("nn:8030, other:8030, where connections from this machine are refused"),
    ]);
  });

  test("is warned of on another machine than the ResourceManager's own", async () => {
    expect(await told({ [`${rm}.hostname`]: "nn", [scheduler]: "other:8030" })).toEqual([
      expect.stringContaining("= other:8030, but it answers tony-ts at nn, another address: unless it is at both"),
    ]);
    expect(await told({ [`${rm}.hostname`]: "nn", [scheduler]: "gone:8030" })).toEqual([
      expect.stringContaining("= gone:8030, but this machine does not know gone: on nodes that do not"),
    ]);
    for (const same of ["nn.example:8030", "unanswered:8030", "here:8030"]) {
      expect(await told({ [`${rm}.hostname`]: "nn", [scheduler]: same })).toEqual([]);
    }
    const masters = { [`${rm}.ha.enabled`]: "true", [`${rm}.ha.rm-ids`]: "a,b" };
    const hostnames = { [`${rm}.hostname.a`]: "nn", [`${rm}.hostname.b`]: "nn.example" };
    expect(await told({ ...masters, ...hostnames, [`${scheduler}.b`]: "other:8030" })).toEqual([
      expect.stringContaining("but it answers tony-ts at nn.example, another address"),
    ]);
  });

  test("is not warned of where it is the host that tony-ts itself asks, known or not", async () => {
    expect(await told({ [`${rm}.hostname`]: "gone" })).toEqual([]);
  });

  test("is not judged where it is each node's own proxy, or a tunnel leads to the ResourceManager", async () => {
    for (const proxy of ["localhost:8049", "127.0.0.1:8049", "[::1]:8049"]) {
      expect(await told({ [`${rm}.hostname`]: "nn", [scheduler]: proxy }, { refused: [proxy] })).toEqual([]);
    }
    const masters = { [`${rm}.ha.enabled`]: "true", [`${rm}.ha.rm-ids`]: "a,b" };
    const proxies = {
      [`${rm}.hostname.a`]: "nn",
      [`${rm}.hostname.b`]: "nn.example",
      [`${scheduler}.a`]: "localhost:8049",
    };
    expect(await told({ ...masters, ...proxies }, { refused: ["localhost:8049", "nn.example:8030"] })).toEqual([]);
    const tunnel = { [`${rm}.address`]: "localhost:8032", [scheduler]: "nn:8030" };
    expect(await told(tunnel, { refused: ["nn:8030"] })).toEqual([]);
  });
});
