import { describe, expect, test } from "@jest/globals";
import { awayNodes } from "../../../client/cluster/cluster-facts.ts";
import {
  clockFinding,
  kerberosFindings,
  labelsFinding,
  logsFinding,
  mastersFinding,
  nameNodeOf,
  queueFinding,
  resourceManagerOf,
  resourcesFinding,
  schedulerOf,
} from "../../../client/cluster/findings.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import type { KeytabLogin } from "../../../src/hadoop/security/kerberos/gss-api.ts";
import type { NodeReport, NodeState, QueueInfo } from "../../../src/hadoop/yarn/records.ts";
import { aNode } from "../submission/stand-in-cluster.ts";

const info = (haState: string) => ({ clusterInfo: { haState, hadoopVersion: "3.4.2" } });
const status = (State: string) => ({ beans: [{ NNRole: "NameNode", State }] });

test("one ResourceManager is told with its release and scheduler", () => {
  const scheduler = schedulerOf({ scheduler: { schedulerInfo: { type: "capacityScheduler" } } });
  expect(mastersFinding("ResourceManager", [resourceManagerOf("rm:8088", info("ACTIVE"))], scheduler)).toEqual({
    subject: "masters",
    state: "well",
    found: "ResourceManager rm:8088 active; Hadoop 3.4.2; CapacityScheduler",
  });
});

test("of two of a kind each is told", () => {
  const nameNodes = [nameNodeOf("nn1:9870", status("standby")), nameNodeOf("nn2:9870", status("active"))];
  expect(mastersFinding("NameNode", nameNodes)).toEqual({
    subject: "masters",
    state: "well",
    found: "NameNode nn1:9870 standby, nn2:9870 active",
  });
});

test("one that is down is a remark: nothing takes over from the other", () => {
  const managers = [resourceManagerOf("rm1:8088", info("ACTIVE")), resourceManagerOf("rm2:8088", undefined)];
  expect(mastersFinding("ResourceManager", managers)).toEqual({
    subject: "masters",
    state: "remark",
    found: "ResourceManager rm1:8088 active, rm2:8088 does not answer; Hadoop 3.4.2",
    remedy: "start rm2:8088: nothing takes over from the other one",
  });
});

test("one that answers and is not trusted is told with that", () => {
  const trouble = "shows a certificate that is not trusted";
  expect(mastersFinding("NameNode", [{ address: "nn:9871", trouble }])).toMatchObject({
    state: "remark",
    found: "NameNode nn:9871 shows a certificate that is not trusted",
    remedy: expect.stringContaining("HDFS refuses the same"),
  });
});

test("where one refuses, a silent one beside it is no reason to start anything", () => {
  const refusing = { address: "nn1:9871", trouble: "wants a ticket" };
  expect(mastersFinding("NameNode", [refusing, { address: "nn2:9871" }])).toMatchObject({
    found: "NameNode nn1:9871 wants a ticket, nn2:9871 does not answer",
    remedy: "jobs run without its web pages; HDFS refuses the same, and its line says how to mend it",
  });
});

test("web pages that cannot be reached stop no job", () => {
  expect(mastersFinding("NameNode", [nameNodeOf("nn:9870", { beans: [] })])).toEqual({
    subject: "masters",
    state: "remark",
    found: "NameNode nn:9870 does not answer",
    remedy: "jobs run without its web pages, and links to them do not open from here",
  });
});

test("an answer that says something else says nothing", () => {
  expect([undefined, [], {}, { scheduler: 1 }, { scheduler: { schedulerInfo: {} } }].map(schedulerOf)).toEqual(
    Array(5).fill(undefined),
  );
  expect(resourceManagerOf("rm:8088", { clusterInfo: { haState: 1 } })).toEqual({ address: "rm:8088" });
  const beans = [undefined, { beans: 1 }, { beans: [1] }, { beans: [{ State: 1 }] }];
  expect(beans.map((document) => nameNodeOf("nn:9870", document))).toEqual(Array(4).fill({ address: "nn:9870" }));
  const unnumbered = { clusterInfo: { haState: "ACTIVE", hadoopVersion: 3 } };
  expect(resourceManagerOf("rm:8088", unnumbered)).toEqual({ address: "rm:8088", state: "active" });
});

function queue(name: string, children: readonly QueueInfo[] = []): QueueInfo {
  const shares = { capacity: 0.6, maximumCapacity: 1, currentCapacity: 0.25 };
  const rest = { mostByLabel: {}, accessibleNodeLabels: [], defaultNodeLabel: "", applications: [] };
  return { name, path: name, state: "RUNNING", ...shares, ...rest, children };
}

const acls = new Map<string, readonly string[]>();

test("a queue of the capacity scheduler is told with its shares", () => {
  const ml = { ...queue("ml"), capacity: 2 / 3 };
  // Whom the ResourceManager does not show the others may submit all the same.
  for (const root of [queue("root", [queue("ml")]), undefined])
    expect(queueFinding("ml", { queue: ml, root, acls })).toEqual({
      subject: "queue",
      state: "well",
      found: "ml: 67 % of its parent, up to 100 %, now 25 % used",
    });
});

test.each([
  ["only holds others", { children: [queue("small")] }, "ml takes no applications itself"],
  ["is stopped", { state: "STOPPED" }, "ml is STOPPED"],
] as const)("a queue that %s is wrong, and those that take jobs are named", (_what, changes, found) => {
  const ml = { ...queue("ml"), ...changes };
  expect(queueFinding("ml", { queue: ml, root: queue("root", [queue("default"), ml]), acls })).toMatchObject({
    ...{ subject: "queue", state: "wrong", found },
    remedy: expect.stringMatching(/^choose another with tony\.yarn\.queue: default, /),
  });
});

test.each<[string, readonly (readonly [string, readonly string[]])[], string]>([
  [
    "who is on its list, by its path",
    [
      ["root.ml", ["SUBMIT_APPLICATIONS"]],
      ["ml", []],
    ],
    "well",
  ],
  ["who is on its list, by its last word", [["ml", ["SUBMIT_APPLICATIONS"]]], "well"],
  ["whom no list of it names: that is of an older ResourceManager", [["other", []]], "well"],
  ["nobody whose list is empty, by its last word", [["ml", []]], "wrong"],
  ["nobody who may only administer it", [["root.ml", ["ADMINISTER_QUEUE"]]], "wrong"],
  [
    "nobody whose list is empty",
    [
      ["root.ml", []],
      ["ml", ["SUBMIT_APPLICATIONS"]],
    ],
    "wrong",
  ],
])("a queue takes jobs of %s", (_whom, lists, state) => {
  const ml = { ...queue("ml"), path: "root.ml" };
  const found = queueFinding("ml", { queue: ml, root: queue("root", [ml]), acls: new Map(lists) });
  expect(found).toMatchObject(state === "well" ? { state } : { state, found: "you may not submit to ml" });
});

test("one that is not there is wrong, and the others are named", () => {
  const root = queue("root", [queue("default"), queue("ml")]);
  expect(queueFinding("mll", { queue: undefined, root, acls })).toMatchObject({
    state: "wrong",
    found: "there is no queue mll",
    remedy: "choose another with tony.yarn.queue: default, ml",
  });
});

test("of FairScheduler, which makes queues as jobs name them, a missing one is no fault", () => {
  expect(queueFinding("default", { queue: undefined, root: queue("root"), acls })).toMatchObject({
    state: "remark",
    found: "there is no queue default yet: FairScheduler makes queues, or places jobs, by its rules",
  });
});

test("of FairScheduler a queue that holds others is no fault either: it places the job by its rules", () => {
  const team = { ...queue("root.team"), children: [queue("root.team.a")] };
  expect(queueFinding("team", { queue: team, root: queue("root", [team]), acls })).toEqual({
    subject: "queue",
    state: "remark",
    found: "team holds other queues: FairScheduler makes queues, or places jobs, by its rules",
    remedy: "if it refuses a job, name a queue with tony.yarn.queue",
  });
});

test("of FairScheduler no shares are told: it has none", () => {
  const ada = queue("root.ada");
  expect(queueFinding("ada", { queue: ada, root: queue("root", [ada]), acls })).toMatchObject({
    state: "well",
    found: "ada is there (FairScheduler)",
  });
});

const types = (...names: string[]) => ["memory-mb", "vcores", ...names].map((name) => ({ name, units: "" }));
const maximum = { memoryMiB: 8192, vcores: 4, others: {} };

test("a cluster's resources are well where gpus asks for one of them, or where there are no GPUs", () => {
  const gpuTypes = ["yarn.io/gpu"];
  expect(resourcesFinding(types("yarn.io/gpu"), [], { maximum, gpuTypes })).toEqual({
    subject: "resources",
    state: "well",
    found: "memory-mb, vcores, yarn.io/gpu; largest container 8 GiB, 4 cores; largest free space 0 MiB",
  });
  expect(resourcesFinding(types(), [], { maximum, gpuTypes }).state).toBe("well");
  const nodes = [1_024, 6_144].map((memoryMiB) => aNode("n1", { used: { memoryMiB, vcores: 1, others: {} } }));
  expect(resourcesFinding(types(), nodes, { maximum, gpuTypes }).found).toMatch(/; largest free space 7 GiB$/);
});

test("GPUs under another name are remarked on, with the key that names them", () => {
  const mig = types("nvidia.com/mig-1g.5gb", "nvidia.com/gpu");
  expect(resourcesFinding(mig, [], { maximum, gpuTypes: ["yarn.io/gpu"] })).toMatchObject({
    ...{ subject: "resources", state: "remark" },
    found: expect.stringMatching(/; tony.<role>.gpus asks for yarn.io\/gpu, which this cluster does not have$/),
    remedy: "set tony.gpu-resource-types to nvidia.com/gpu,nvidia.com/mig-1g.5gb in tony-site.xml",
  });
  for (const gpuTypes of [["nvidia.com/gpu"], []])
    expect(resourcesFinding(mig, [], { maximum, gpuTypes }).state).toBe("well");
});

const size = { memoryMiB: 8192, vcores: 8, others: {} };

function node(host: string, state: NodeState, ...labels: string[]): NodeReport {
  const is = { nodeId: `${host}:1`, host, httpAddress: "", rack: "/r", state, labels, healthReport: "" } as const;
  return { ...is, used: size, capability: size, containerCount: 0 };
}

function labelsFound(nodes: readonly NodeReport[]) {
  const labels = [
    { name: "gpu", exclusive: false },
    { name: "big", exclusive: true },
  ];
  return labelsFinding("ml", { labels, queue: undefined, away: awayNodes(nodes) });
}

test("labels are told, and whether others may use their nodes", () => {
  expect(labelsFound([node("a", "RUNNING", "gpu"), node("b", "LOST", "gpu"), node("c", "LOST")])).toEqual({
    subject: "labels",
    state: "well",
    found: "gpu (shared), big; queue ml reaches none",
  });
  const reaching = { ...queue("ml"), accessibleNodeLabels: ["", "gpu", "big"] };
  const labels = [{ name: "gpu", exclusive: true }];
  expect(labelsFinding("ml", { labels, queue: reaching, away: [] }).found).toBe("gpu; queue ml reaches gpu, big");
  expect(labelsFinding("ml", { labels: [], queue: undefined, away: [] }).found).toBe("the cluster has no node labels");
});

test("a label whose nodes are all away is remarked on, with their states", () => {
  const nodes = [node("a", "RUNNING"), node("b", "DECOMMISSIONING", "gpu"), node("c", "UNHEALTHY", "gpu")];
  expect(labelsFound(nodes)).toMatchObject({
    state: "remark",
    found: "gpu (shared), big; queue ml reaches none; no node with label gpu runs: b (DECOMMISSIONING), c (UNHEALTHY)",
    remedy: "jobs that ask for it wait until such a node runs again: ask whoever operates the cluster",
  });
});

const logsFound = (values: Record<string, string>) => logsFinding(new Configuration().withValues(values), "ada");
const kept = { "yarn.log-aggregation-enable": "true" };
const controller = "yarn.log-aggregation.file-controller";

test("a cluster that keeps no logs is remarked on", () => {
  expect(logsFound({})).toEqual({
    subject: "logs",
    state: "remark",
    found: "the cluster does not keep logs after a job ends (yarn.log-aggregation-enable is false)",
    remedy: "to read them then, set yarn.log-aggregation-enable to true on the cluster and here",
  });
});

test("folder and formats are named", () => {
  expect(logsFound(kept)).toEqual({ subject: "logs", state: "well", found: "kept in /tmp/logs/ada as TFile" });
  const indexed = {
    ...kept,
    "yarn.log-aggregation.file-formats": "IFile,TFile",
    [`${controller}.IFile.class`]:
      "org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController",
    "yarn.log-aggregation.IFile.remote-app-log-dir": "hdfs://ns/indexed/",
  };
  expect(logsFound(indexed)).toMatchObject({
    state: "well",
    found: "kept in hdfs://ns/indexed/ada as IFile (indexed files), TFile",
  });
});

test("a format that tony-ts does not read is remarked on, with what reads it", () => {
  const ours = { ...kept, "yarn.log-aggregation.file-formats": "Ours,TFile" };
  expect(logsFound({ ...ours, [`${controller}.Ours.class`]: "com.example.Ours" })).toEqual({
    subject: "logs",
    state: "remark",
    found: "kept in /tmp/logs/ada as Ours (com.example.Ours), TFile",
    remedy: "tony-ts reads TFile and indexed files only; for Ours use: yarn logs -applicationId ID",
  });
  expect(logsFound(ours).found).toContain("Ours (no class is configured for it)");
});

describe("the clock", () => {
  const request = { startMs: 10_000, endMs: 15_800 };

  test("agrees where HDFS's time lies within the request, however long that took", () => {
    for (const atMs of [10_000, 12_100, 15_800])
      expect(clockFinding(atMs, request)).toEqual({ subject: "clock", state: "well", found: "agrees with HDFS's" });
  });

  test("differs by what lies before the request or after it", () => {
    expect(clockFinding(8_500, request)).toMatchObject({ state: "well", found: "differs from HDFS's by 1.5 s" });
    expect(clockFinding(16_800, request)).toMatchObject({ state: "well", found: "differs from HDFS's by 1.0 s" });
  });

  test("is worth a remark when it is more than half a minute off", () => {
    expect(clockFinding(45_800, request)).toMatchObject({ state: "well", found: "differs from HDFS's by 30.0 s" });
    expect(clockFinding(45_801, request)).toMatchObject({
      state: "remark",
      remedy: "set this machine's clock, or the cluster's, by NTP",
    });
    expect(clockFinding(1_015_800, request)).toMatchObject({
      state: "remark",
      found: "differs from HDFS's by 1000.0 s",
    });
  });
});

/** A login whose ticket has so long to go. */
const login = (remainingSeconds: number, keytab?: KeytabLogin) => ({
  keytab,
  credential: async () => ({ principal: "alice@EXAMPLE.COM", remainingSeconds }),
});

test.each([
  [86_000, "well", "the ticket of alice@EXAMPLE.COM is valid for another 23 h 53 min", undefined],
  [3_600, "well", "the ticket of alice@EXAMPLE.COM is valid for another 1 h", undefined],
  [
    3_599,
    "remark",
    "the ticket of alice@EXAMPLE.COM is valid for another 59 min 59 s",
    "kinit, or kinit -R where it may be renewed",
  ],
])("a ticket with %i s to go: %s", async (seconds, state, found, remedy) => {
  expect(await kerberosFindings({ login: login(seconds) })).toEqual([{ subject: "Kerberos", state, found, remedy }]);
});

test("a keytab's ticket is renewed in time", async () => {
  const keytab = { principal: "alice@EXAMPLE.COM", keytab: "/k/alice.keytab" };
  expect(await kerberosFindings({ login: login(10, keytab) })).toEqual([
    { subject: "Kerberos", state: "well", found: "alice@EXAMPLE.COM by /k/alice.keytab, renewed before it ends" },
  ]);
});

test("where one does not log in by Kerberos there is nothing to say", async () => {
  expect(await kerberosFindings({ login: undefined })).toEqual([]);
});
