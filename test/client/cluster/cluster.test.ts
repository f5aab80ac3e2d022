import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, jest, test } from "@jest/globals";
import { Cluster, type ClusterOptions, clusterOf } from "../../../client/cluster/cluster.ts";
import { briefPatience } from "../../../client/cluster/patience.ts";
import { variablesOf } from "../../../client/context.ts";
import { CodedError, errorMessage } from "../../../src/hadoop/errors.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import { trustedCertificatesKey } from "../../../src/hadoop/security/security-keys.ts";
import { writeTokenFile } from "../../../src/hadoop/security/token-file.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { aDelegationToken } from "../../support/tokens.ts";
import { StandInManager } from "../stand-in-manager.ts";
import { recordedContext } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "tony-cluster-"));
/** Hadoop's files of a cluster, whose yarn-site.xml has that key alone. */
function site(place: string, key: string, value: string): void {
  mkdirSync(place, { recursive: true });
  for (const [file, property] of [
    ["core-site.xml", ["fs.defaultFS", "hdfs://nn:8020"]],
    ["yarn-site.xml", [key, value]],
  ] as const) {
    const [name, content] = property;
    const xml = `<property><name>${name}</name><value>${content}</value></property>`;
    writeFileSync(join(place, file), `<configuration>${xml}</configuration>`);
  }
}
site(folder, "yarn.resourcemanager.hostname", "rm");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const kerberos = { "hadoop.security.authentication": "kerberos" };
const tokens = join(folder, "tokens");
writeFileSync(tokens, writeTokenFile({ tokens: [aDelegationToken(1, 2)], secrets: new Map() }));

/** Of somebody who was given tokens, which a cluster heeds that wants proofs. */
async function opened(options: ClusterOptions = {}): Promise<Cluster> {
  const environment = { HADOOP_CONF_DIR: folder, HADOOP_USER_NAME: "bob", HADOOP_TOKEN_FILE_LOCATION: tokens };
  const cluster = await Cluster.open(recordedContext({ environment }), options);
  cluster.close();
  return cluster;
}

/** What a person is told of a failure of the file system, where these are Hadoop's properties. */
async function told(
  code: FileSystemErrorCode,
  hadoop: Readonly<Record<string, string>> = {},
  gateway?: string,
): Promise<string> {
  const cluster = await opened({ hadoop, gateway });
  return errorMessage(cluster.explain(new FileSystemError("LISTSTATUS /: no", { code })));
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

test.each(["RPC_CONNECT_FAILED", "RPC_CONNECTION_LOST", "RPC_TIMEOUT", "RPC_PROTOCOL"])(
  "where the ResourceManager does not answer (%s), whose address it was, and that it may later",
  async (code) => {
    const cause = new CodedError("rm:8032: no", { code });
    expect((await opened()).explain(cause)).toMatchObject({
      ...{ name: "UserError", code, exitCode: 3, retryable: true, cause },
      message:
        `The ResourceManager does not answer: rm:8032: no\n  Is it running, and is this the right cluster? HADOOP_CONF_DIR is ${folder}; ` +
        "the address comes from yarn.resourcemanager.address\n  tony-ts doctor says more",
    });
  },
);

test.each<[string, Readonly<Record<string, string>>, RegExp]>([
  [
    "UNTRUSTED",
    {},
    /\n {2}No trust store is named in ssl-client\.xml of .*; tony\.security\.ca-file=FILE names the PEM/,
  ],
  ["HTTP_UNTRUSTED", { [trustedCertificatesKey]: "PEM" }, /\n {2}None of the trusted authorities has signed it \(/],
  ["AUTHENTICATION_FAILED", {}, /\n {2}hadoop\.security\.authentication is simple here; HADOOP_CONF_DIR is /],
  ["AUTHENTICATION_FAILED", kerberos, /\n {2}tony-ts doctor says more$/],
  ["KERBEROS_NEEDED", {}, /\n {2}hadoop\.security\.authentication is simple here; /],
  ["SERVER_NOT_SECURE", kerberos, /\n {2}hadoop\.security\.authentication.* is kerberos here; /],
  ["NO_WEBHDFS", {}, /\n {2}Turn WebHDFS on, or name an HttpFS or Knox: /],
  ["FILE_SYSTEM_UNSUPPORTED", {}, /\n {2}The files of jobs may lie elsewhere: tony\.staging-dir=hdfs:/],
])("what can be set against %s is said", async (code, hadoop, message) => {
  const cause = new CodedError("no", { code });
  const error = (await opened({ hadoop })).explain(cause);
  expect(error).toMatchObject({ name: "UserError", code, exitCode: 3, cause, message: expect.stringMatching(message) });
});

test("what is no trouble of the cluster's stays what it is", async () => {
  const error = new CodedError("no", { code: "ACCESS_DENIED" });
  expect((await opened()).explain(error)).toBe(error);
});

test("tokens that were given say who somebody is where proofs are wanted, and are named where they are not accepted", async () => {
  const ended = new FileSystemError("STAT /: InvalidToken: Token for real user: , can't be found in cache", {
    code: "AUTHENTICATION_FAILED",
  });
  const secured = await opened({ hadoop: kerberos });
  expect(secured).toMatchObject({ user: "ada", isSecured: true, login: undefined });
  expect(secured.explain(ended)).toMatchObject({ code: "TOKEN_REFUSED" });
  const open = await opened();
  expect(open).toMatchObject({ user: "bob", isSecured: false, given: undefined });
  expect(await Promise.all([open.own.user(), open.credentials.user()])).toEqual(["bob", "bob"]);
  expect(open.explain(ended)).toMatchObject({ code: "AUTHENTICATION_FAILED" });
});

test("a ResourceManager that is silent is asked again, and a person is told which one, until it is to be asked briefly", async () => {
  const hadoop = {
    "yarn.resourcemanager.ha.enabled": "true",
    "yarn.resourcemanager.ha.rm-ids": "a,b",
    "yarn.resourcemanager.address.a": "127.0.0.1:1",
    "yarn.resourcemanager.address.b": "127.0.0.1:2",
    "yarn.resourcemanager.connect.retry-interval.ms": "10",
  };
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const cluster = await Cluster.open(context, { hadoop });
  const asked = cluster.use(({ resourceManager }) => resourceManager.newApplication());
  const refused = expect(asked).rejects.toMatchObject({ name: "UserError", code: "RPC_CONNECT_FAILED", exitCode: 3 });
  await context.err.waitFor(
    "The ResourceManager at 127.0.0.1:1, 127.0.0.1:2 does not answer; still trying, for 15 min",
  );
  cluster.askBriefly();
  expect(cluster.patience).toBe(briefPatience);
  await refused;
  cluster.close();
});

test("a job's address goes through the ResourceManager that answers", async () => {
  const place = mkdtempSync(join(folder, "manager-"));
  const manager = await StandInManager.start(place);
  const [, active = ""] =
    /<value>(127\.0\.0\.1:\d+)</.exec(readFileSync(join(manager.configuration, "yarn-site.xml"), "utf8")) ?? [];
  const hadoop = {
    "yarn.resourcemanager.ha.enabled": "true",
    "yarn.resourcemanager.ha.rm-ids": "a,b",
    "yarn.resourcemanager.address.a": "127.0.0.1:1",
    "yarn.resourcemanager.address.b": active,
    "yarn.resourcemanager.webapp.address.a": "rm1:8088",
    "yarn.resourcemanager.webapp.address.b": "rm2:8088",
  };
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: manager.configuration } });
  const cluster = await Cluster.open(context, { hadoop });
  expect(await cluster.use(({ resourceManager }) => resourceManager.nodes(["RUNNING"]))).toEqual([]);
  expect(cluster.trackingUrl("http://rm1:8088/proxy/application_1_0001/")).toBe(
    "http://rm2:8088/proxy/application_1_0001/",
  );
  expect(manager.callers).toBe(1);
  cluster.close();
  await manager.stop();
});

test("the default file system is reached through a gateway where one serves it, and is left when the cluster is closed", async () => {
  const asked: string[] = [];
  const gateway = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ Path: "/user/bob" }));
  });
  await listenLocally(gateway);
  const environment = { HADOOP_CONF_DIR: folder, HADOOP_USER_NAME: "bob" };
  const cluster = await Cluster.open(recordedContext({ environment }), { gateway: `http://${localAddress(gateway)}` });
  expect((await cluster.fileSystems.home()).path).toBe("/user/bob");
  expect(asked).toEqual([expect.stringMatching(/op=GETHOMEDIRECTORY.*user\.name=bob|user\.name=bob.*op=GETHOMEDIR/)]);
  const closed = jest.spyOn(cluster.fileSystems, "close");
  const left = jest.spyOn(cluster.resourceManager, "close");
  cluster.close();
  expect([closed, left].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  gateway.close();
});

test("a person is told beside the result what a command has to say", async () => {
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const cluster = await Cluster.open(context);
  cluster.tell("the staging folder is swept");
  cluster.close();
  expect([context.err.text, context.out.text]).toEqual(["the staging folder is swept\n", ""]);
});

test("the certificates that the site's ssl-client.xml names are trusted", async () => {
  const place = mkdtempSync(join(folder, "trust-"));
  site(place, "yarn.resourcemanager.hostname", "rm");
  const properties = Object.entries({
    location: resolve("test/fixtures/trust-stores/store.jks"),
    password: "changeit",
  });
  const xml = properties.map(
    ([name, value]) => `<property><name>ssl.client.truststore.${name}</name><value>${value}</value></property>`,
  );
  writeFileSync(join(place, "ssl-client.xml"), `<configuration>${xml.join("")}</configuration>`);
  const cluster = await Cluster.open(recordedContext({ environment: { HADOOP_CONF_DIR: place } }));
  cluster.close();
  expect(cluster.configuration.get(trustedCertificatesKey)).toMatch(/^-----BEGIN CERTIFICATE-----/);
});

describe("the cluster of a job", () => {
  const open = async (
    conf: readonly string[],
    environment: Readonly<Record<string, string>> = { HADOOP_CONF_DIR: folder },
  ) => {
    const context = recordedContext({ environment });
    const cluster = await clusterOf(readJob({ conf }, { variables: variablesOf(context) }), context);
    cluster.close();
    return { cluster, said: context.err.text };
  };

  test("is the one that is named, with what the job lays over its configuration, and its gateway", async () => {
    const { cluster, said } = await open(["dfs.replication=2", "tony.hdfs.endpoint=http://gateway:14000"]);
    expect(cluster.configuration.get("dfs.replication")).toBe("2");
    expect(cluster.gateway).toBe("http://gateway:14000");
    expect(said).toBe("");
  });

  test("that nobody named is told, and what is guessed of it", async () => {
    const home = join(folder, "hadoop");
    const found = join(home, "etc", "hadoop");
    site(found, "yarn.resourcemanager.address", "rm:8032");
    const { said } = await open([], { HADOOP_HOME: home });
    expect(said).toContain(`HADOOP_CONF_DIR is not set; ${found} is used\n`);
    expect(said).toMatch(/^ApplicationMasters look for the ResourceManager at rm:8030, from the host in /m);
  });

  test("is entered as who the job names, by certificates that it names", async () => {
    const keytab = ["tony.kerberos.keytab=/none", "tony.kerberos.principal=alice@EXAMPLE.COM"];
    await expect(open(["hadoop.security.authentication=kerberos", ...keytab])).rejects.toMatchObject({
      code: "KERBEROS_KEYTAB",
    });
    await expect(open(["tony.security.ca-file=/none.pem"])).rejects.toMatchObject({ code: "TRUST_STORE", exitCode: 3 });
  });
});

test("files that all nodes of a job fetch are kept as often as Hadoop keeps those of its own jobs", async () => {
  const replicas = async (hadoop: Readonly<Record<string, string>>) => {
    return (await opened({ hadoop })).sharedReplicas;
  };
  expect([await replicas({}), await replicas({ "mapreduce.client.submit.file.replication": "4" })]).toEqual([10, 4]);
});

test("nobody logged in, where the cluster wants Kerberos, is the cluster's exit code, and what mends it is said", async () => {
  const context = recordedContext({ environment: { HADOOP_CONF_DIR: folder } });
  const login = { principal: "alice@EXAMPLE.COM", keytab: join(folder, "none") };
  await expect(Cluster.open(context, { hadoop: kerberos, login })).rejects.toMatchObject({
    name: "UserError",
    code: "KERBEROS_KEYTAB",
    exitCode: 3,
    message: expect.stringMatching(/alice@EXAMPLE.COM[\s\S]*kadmin makes one: ktadd -k/),
  });
});
