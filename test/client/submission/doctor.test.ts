import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Finding } from "../../../client/cluster/findings.ts";
import { type DoctorOptions, examine, examineOffline } from "../../../client/submission/doctor.ts";
import { UserError } from "../../../src/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { aNode, StandInCluster } from "./stand-in-cluster.ts";

const machine = { memoryMiB: 8_192, vcores: 2, gpus: ["0"] };
const offline = { nodeBinary: "local:/opt/node", namedRuntimes: {}, machine, localRoot: "/tmp" };
const of = (subject: string, findings: readonly Finding[]) => findings.filter((one) => one.subject === subject);

describe("a look at a cluster", () => {
  let there: StandInCluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await there.stop();
  });

  /** @param identity of who looks */
  async function look(
    changes: Partial<DoctorOptions> = {},
    hadoop: Readonly<Record<string, string>> = {},
    identity: object = {},
  ): Promise<Finding[]> {
    const cluster = Object.assign(await there.open({ hadoop }), identity);
    cluster.askBriefly();
    return await examine(cluster, {
      ...offline,
      queue: "ml",
      gpuTypes: [],
      stagingDir: `file://${there.staging}`,
      trustedOwners: [],
      history: { timeZone: "UTC" },
      now: Date.now,
      ...changes,
    });
  }

  test("finds what is well, and leaves nothing behind", async () => {
    const findings = await look();
    expect(of("HDFS", findings)).toEqual([
      { subject: "HDFS", state: "well", found: `file://${there.staging} can be written by ${there.applicant}` },
    ]);
    expect(of("clock", findings)).toMatchObject([{ state: "well" }]);
    expect(of("ResourceManager", findings)).toEqual([
      { subject: "ResourceManager", state: "well", found: "2 nodes active, 0 lost, 0 unhealthy" },
    ]);
    expect(of("queue", findings)).toMatchObject([{ state: "well", found: expect.stringMatching(/^ml: /) }]);
    expect(of("resources", findings)).toMatchObject([
      { state: "well", found: expect.stringContaining("largest container 8 GiB, 4 cores; largest free space 8 GiB") },
    ]);
    expect(of("labels", findings)).toMatchObject([{ state: "well", found: "the cluster has no node labels" }]);
    expect(of("runtime", findings)).toMatchObject([{ state: "well", found: "/opt/node of the nodes is used" }]);
    expect(of("configuration", findings)).toMatchObject([
      {
        state: "well",
        found: `hdfs://nowhere:8020, authentication simple; HADOOP_CONF_DIR is ${there.manager.configuration}`,
      },
    ]);
    expect(of("logs", findings)).toMatchObject([{ state: "remark", found: expect.stringContaining("keep logs") }]);
    expect(of("this machine", findings)).toMatchObject([{ state: "well" }]);
    expect([of("Kerberos", findings), of("protection", findings)]).toEqual([[], []]);
    expect(readdirSync(there.staging)).toEqual([]);
  });

  test("leaves nothing behind where a file cannot be written", async () => {
    const modes: number[] = [];
    jest.spyOn(LocalFileSystem.prototype, "create").mockImplementation(async (file) => {
      modes.push(statSync(path.dirname(file)).mode & 0o777);
      throw new Error("the disk is full");
    });
    expect(of("HDFS", await look())).toEqual([{ subject: "HDFS", state: "wrong", found: "the disk is full" }]);
    expect(modes).toEqual([0o700]);
    expect(readdirSync(there.staging)).toEqual([]);
  });

  test("takes no slow answer for a difference of the clocks", async () => {
    const sinceMs = [0, -60_000, 60_000];
    const now = () => Date.now() + (sinceMs.shift() ?? 0);
    expect(of("clock", await look({ now }))).toEqual([
      { subject: "clock", state: "well", found: "agrees with HDFS's" },
    ]);
  });

  test("finds on a secured cluster until when one is logged in, and what travels unencrypted", async () => {
    const login = {
      keytab: undefined,
      credential: async () => ({ principal: "ada@EXAMPLE", remainingSeconds: 7_200 }),
    };
    const findings = await look({}, {}, { isSecured: true, login });
    expect(of("Kerberos", findings)).toMatchObject([
      { state: "well", found: "the ticket of ada@EXAMPLE is valid for another 2 h" },
    ]);
    expect(of("protection", findings)).toMatchObject([
      { state: "remark", found: expect.stringContaining("lets RPC travel unencrypted") },
    ]);
  });

  test("finds where logs are kept of whoever looks", async () => {
    const kept = { "yarn.log-aggregation-enable": "true" };
    expect(of("logs", await look({}, kept, { user: "ada" }))).toEqual([
      { subject: "logs", state: "well", found: "kept in /tmp/logs/ada as TFile" },
    ]);
  });

  test("finds that ApplicationMasters can only guess where the ResourceManager is", async () => {
    const file = path.join(there.manager.configuration, "yarn-site.xml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("yarn.resourcemanager.scheduler.address", "unnamed"));
    expect(of("configuration", await look())).toMatchObject([
      {
        state: "remark",
        found: expect.stringMatching(
          /^hdfs:\/\/nowhere:8020, .*\. ApplicationMasters look for the ResourceManager at /,
        ),
        remedy: "copy the cluster's own yarn-site.xml, or set the key",
      },
    ]);
  });

  test("finds that the cluster has other GPUs than the settings name", async () => {
    there.manager.resourceTypes = ["memory-mb", "vcores", "yarn.io/gpu"];
    expect(of("resources", await look({ gpuTypes: ["nvidia.com/gpu"] }))).toMatchObject([
      { state: "remark", found: expect.stringContaining("tony.<role>.gpus asks for nvidia.com/gpu") },
    ]);
    expect(of("resources", await look({ gpuTypes: ["yarn.io/gpu"] }))).toMatchObject([{ state: "well" }]);
  });

  test("tells how far the clocks are apart", async () => {
    expect(of("clock", await look({ now: () => Date.now() + 60_000 }))).toMatchObject([
      { state: "remark", found: expect.stringMatching(/^differs from HDFS's by (59|60)\.\d s$/) },
    ]);
  });

  test("names nodes that do not run, and asks nothing more of a cluster without any", async () => {
    const lost = [aNode("n1", { state: "LOST" }), aNode("n3", { state: "LOST" })];
    there.manager.nodes = [...lost, aNode("n2", { state: "UNHEALTHY" }), aNode("n4", { state: "DECOMMISSIONING" })];
    const findings = await look();
    expect(of("ResourceManager", findings)).toMatchObject([
      {
        state: "wrong",
        found: expect.stringMatching(/^0 nodes active, 2 lost, 1 unhealthy: n1.*n3.*n2.*n4/),
        remedy: "start a NodeManager: nothing can run without one",
      },
    ]);
    for (const subject of ["queue", "resources", "labels"]) expect(of(subject, findings)).toEqual([]);
  });

  test("goes on where one thing is wrong, and says how that is mended", async () => {
    writeFileSync(there.staging, "a file where a folder is to be");
    there.manager.queues = ["default", "team.ml"];
    const findings = await look({ queue: "mll", nodeBinary: "/no/such/node" });
    expect(of("HDFS", findings)).toEqual([
      {
        subject: "HDFS",
        state: "wrong",
        found: expect.stringContaining(there.staging),
        remedy: "The job's files cannot be put there: set tony.staging-dir to a folder that you may write to",
      },
    ]);
    expect(of("queue", findings)).toMatchObject([
      { state: "wrong", found: "there is no queue mll", remedy: "choose another with tony.yarn.queue: default, ml" },
    ]);
    expect(of("queue", await look({ queue: "team" }))).toMatchObject([
      { state: "wrong", found: "team takes no applications itself" },
    ]);
    expect(of("runtime", findings)).toMatchObject([
      { state: "wrong", found: expect.stringMatching(/^\/no\/such\/node/) },
    ]);
    expect(of("resources", findings)).toMatchObject([{ state: "well" }]);
  });

  test("asks a ResourceManager that is away once, and finds the rest", async () => {
    await there.manager.stop();
    const findings = await look();
    expect(of("ResourceManager", findings)).toMatchObject([
      {
        state: "wrong",
        found: expect.stringMatching(/^The ResourceManager does not answer/),
        remedy: expect.any(String),
      },
    ]);
    expect(JSON.stringify(of("ResourceManager", findings))).not.toContain("tony-ts doctor");
    expect(of("queue", findings)).toEqual([]);
    expect(of("HDFS", findings)).toMatchObject([{ state: "well" }]);
  });

  test("finds who may change the folder of jobs' files, which of a cluster that believes names is a remark", async () => {
    mkdirSync(there.staging);
    chmodSync(there.staging, 0o777);
    expect(of("HDFS", await look())).toMatchObject([
      { state: "well" },
      { state: "remark", found: expect.stringContaining("can be changed by everybody (permissions 777)") },
    ]);
  });

  test("refuses on a secured cluster a folder of jobs' files that others may change, and one of an owner who is not trusted", async () => {
    mkdirSync(there.staging);
    chmodSync(there.staging, 0o777);
    expect(of("HDFS", await look({}, {}, { isSecured: true }))).toMatchObject([
      { state: "wrong", found: expect.stringContaining("can be changed by everybody (permissions 777)") },
    ]);
    chmodSync(there.staging, 0o755);
    const { stat } = LocalFileSystem.prototype;
    jest.spyOn(LocalFileSystem.prototype, "stat").mockImplementation(async function (this: LocalFileSystem, file) {
      const status = await stat.call(this, file);
      return file === there.staging ? { ...status, owner: "cacher" } : status;
    });
    expect(of("HDFS", await look())).toMatchObject([
      { state: "wrong", found: expect.stringContaining("belongs to cacher") },
    ]);
    expect(of("HDFS", await look({ trustedOwners: ["cacher"] }))).toMatchObject([{ state: "well" }]);
    expect(of("HDFS", await look({}, {}, { user: "cacher" }))).toMatchObject([{ state: "well" }]);
  });

  test("finds what nodes count, where ApplicationMasters look, which masters serve pages and which labels no node has that runs", async () => {
    there.manager.labels = [{ name: "gpu", exclusive: true }];
    there.manager.defaultLabel = "gpu";
    const capability = { memoryMiB: 65_536, vcores: 16, others: {} };
    const gone = aNode("n2", { state: "LOST", labels: ["gpu"], capability });
    there.manager.nodes = [aNode("n1"), gone];
    const findings = await look({}, { "fs.defaultFS": "hdfs://name_node:8020" });
    expect(of("memory", findings)).toMatchObject([{ state: "remark", found: expect.stringContaining("2.1 times") }]);
    expect(of("addresses", findings)).toMatchObject([
      { state: "remark", found: expect.stringContaining("the host name_node") },
    ]);
    expect(of("masters", findings)).toMatchObject([{ found: expect.stringMatching(/^NameNode name_node:/) }]);
    expect(of("labels", findings)).toMatchObject([
      { state: "remark", found: expect.stringMatching(/^gpu; queue ml reaches gpu; no node with label gpu runs: n2/) },
    ]);
    expect(of("ResourceManager", findings)).toMatchObject([{ state: "well" }]);
    expect(of("resources", findings)).toMatchObject([{ found: expect.stringMatching(/; largest free space 8 GiB$/) }]);
    there.manager.nodes = [aNode("n1", { labels: ["gpu"] }), gone];
    expect(of("labels", await look())).toMatchObject([{ state: "well" }]);
  });

  test("finds that jobs can write their history, where the site keeps it", async () => {
    mkdirSync(there.staging);
    const history = { timeZone: "UTC", location: `file://${there.staging}/history` };
    expect(of("history", await look({ history }))).toMatchObject([{ state: "well" }]);
    expect(of("history", await look())).toEqual([]);
  });
});

describe("where there is no cluster", () => {
  const noCluster = new UserError(
    "There is none\n  Set HADOOP_CONF_DIR,\n  or HADOOP_HOME\n  tony-ts doctor says more",
    {
      code: "NO_CLUSTER",
    },
  );

  test("it is said why, and what works without one", async () => {
    expect(await examineOffline(noCluster, offline)).toEqual([
      {
        subject: "configuration",
        state: "wrong",
        found: "There is none",
        remedy: "Set HADOOP_CONF_DIR, or HADOOP_HOME",
      },
      { subject: "runtime", state: "well", found: "/opt/node of the nodes is used" },
      {
        subject: "this machine",
        state: "well",
        found: "8 GiB, 2 cores, 1 GPU: jobs run here with --scheduler local",
      },
    ]);
  });

  test("a Node that is not there is said beside the rest", async () => {
    const findings = await examineOffline(noCluster, { ...offline, nodeBinary: "/no/such/node" });
    expect(of("runtime", findings)).toMatchObject([
      { state: "wrong", found: expect.stringMatching(/^\/no\/such\/node/) },
    ]);
    expect(of("this machine", findings)).toMatchObject([{ state: "well" }]);
  });

  test("a machine that has no folder for its own jobs is a remark", async () => {
    const findings = await examineOffline(noCluster, { ...offline, localRoot: "/dev/null/local" });
    expect(of("this machine", findings)).toEqual([
      {
        subject: "this machine",
        state: "remark",
        found: expect.stringMatching(
          /^8 GiB, 2 cores, 1 GPU; --scheduler local has no folder for its jobs, \/dev\/null\/local: ENOTDIR/,
        ),
        remedy: "Set HOME or XDG_STATE_HOME to a folder that you can write to",
      },
    ]);
  });

  test.each([
    [{ nodeBinary: "hdfs://nn/node" }, "hdfs://nn/node is used"],
    [
      { nodeBinary: undefined, namedRuntimes: { arm64: { value: "hdfs://nn/arm", at: undefined } } },
      expect.stringMatching(/^x64: \/.* travels with jobs; arm64: hdfs:\/\/nn\/arm is used$/),
    ],
  ])("the runtime of jobs is named: %j", async (settings, found) => {
    if (process.arch !== "x64" && settings.nodeBinary === undefined) return;
    const findings = await examineOffline(noCluster, { ...offline, ...settings });
    expect(of("runtime", findings)).toMatchObject([{ state: "well", found }]);
  });
});
