import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { Cluster } from "../../../client/cluster/cluster.ts";
import { errorMessage } from "../../../src/hadoop/errors.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import { recordedContext } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "tony-cluster-"));
for (const [file, key, value] of [
  ["core-site.xml", "fs.defaultFS", "hdfs://nn:8020"],
  ["yarn-site.xml", "yarn.resourcemanager.hostname", "rm"],
] as const) {
  const property = `<property><name>${key}</name><value>${value}</value></property>`;
  writeFileSync(join(folder, file), `<configuration>${property}</configuration>`);
}
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a person is told of a failure of the file system, where these are Hadoop's properties. */
async function told(
  code: FileSystemErrorCode,
  hadoop: Readonly<Record<string, string>> = {},
  gateway?: string,
): Promise<string> {
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const cluster = await Cluster.open(context, { hadoop, gateway });
  try {
    return errorMessage(cluster.explain(new FileSystemError("LISTSTATUS /: no", { code })));
  } finally {
    cluster.close();
  }
}

describe("where HDFS does not answer, a person is told whose address it was and where that comes from", () => {
  test("from the configuration", async () => {
    const message = await told("UNREACHABLE", { "dfs.namenode.http-address.prod.nn1": "a:9870" });
    expect(message).toMatch(/^The NameNode \(WebHDFS\) does not answer: LISTSTATUS \/: no\n/);
    expect(message).toMatch(/; the address comes from dfs\.namenode\.http-address\n/);
  });

  test("from nowhere", async () => {
    expect(await told("UNREACHABLE")).toMatch(
      /; the address comes from dfs\.namenode\.http-address, which is not set: the default ports of Hadoop 3 and of 2 were tried\n/,
    );
  });

  test("from the job, of a gateway", async () => {
    const message = await told("TIMEOUT", {}, "http://gateway:14000");
    expect(message).toMatch(/^HttpFS or Knox does not answer: /);
    expect(message).toMatch(/; the address comes from tony\.hdfs\.endpoint\n/);
  });
});

test("files that all nodes of a job fetch are kept as often as Hadoop keeps those of its own jobs", async () => {
  const replicas = async (hadoop: Readonly<Record<string, string>>) => {
    const cluster = await Cluster.open(recordedContext({ environment: { HADOOP_CONF_DIR: folder } }), { hadoop });
    cluster.close();
    return cluster.sharedReplicas;
  };
  expect([await replicas({}), await replicas({ "mapreduce.client.submit.file.replication": "4" })]).toEqual([10, 4]);
});

test("where WebHDFS is off, which setting helps", async () => {
  expect(await told("NO_WEBHDFS")).toContain("Turn WebHDFS on, or name an HttpFS or Knox: tony.hdfs.endpoint=http://");
});

test("nobody logged in, where the cluster wants Kerberos, is the cluster's exit code, and what mends it is said", async () => {
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const login = { principal: "alice@EXAMPLE.COM", keytab: join(folder, "none") };
  const hadoop = { "hadoop.security.authentication": "kerberos" };
  await expect(Cluster.open(context, { hadoop, login })).rejects.toMatchObject({
    name: "UserError",
    code: "KERBEROS_KEYTAB",
    exitCode: 3,
    message: expect.stringMatching(/alice@EXAMPLE.COM[\s\S]*kadmin makes one: ktadd -k/),
  });
});
