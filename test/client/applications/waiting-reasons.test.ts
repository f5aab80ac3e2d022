import { beforeEach, describe, expect, test } from "@jest/globals";
import { WaitingReasons } from "../../../client/applications/waiting-reasons.ts";
import type { ApplicationReport, NodeReport, NodeState } from "../../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../../src/hadoop/yarn/submission.ts";
import { type DelayReason, delayWords } from "../../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, role } from "../job-status.ts";

function node(host: string, state: NodeState, { label = "", usedMiB = 0 } = {}): NodeReport {
  const capability = { memoryMiB: 8192, vcores: 32, others: {} };
  const used = { memoryMiB: usedMiB, vcores: 2, others: {} };
  const labels = label === "" ? [] : [label];
  return {
    nodeId: `${host}:8041`,
    host,
    state,
    rack: "/r",
    httpAddress: "",
    labels,
    capability,
    used,
    containerCount: 0,
    healthReport: "",
  };
}

const LOOKS_AT = () => "yarn.resourcemanager.scheduler.address (yarn-site.xml) = rm:9";
const quiet = { nodeLabels: async () => [], reports: async () => [] };

/** As YARN 3.4.2 words an AM that may have a container, and has none. */
const activated = (partition = "<DEFAULT_PARTITION>") =>
  "[x] Application is Activated, waiting for resources to be assigned for AM. Skipping assigning to Node in Ignore Exclusivity mode.  " +
  `Details : AM Partition = ${partition} ; Partition Resource = <memory:0, vCores:0> ; Queue's Absolute used capacity = 0.0 % ; ` +
  "Queue's Absolute max capacity = 100.0 % ; ";

/** The reason, a minute after the submission. */
async function reasonWith(nodes: readonly NodeReport[], changes: Partial<ApplicationReport>) {
  const report = aReport(changes);
  const asked = { ...quiet, nodes: inState(nodes) };
  return new WaitingReasons(asked, () => report.startTimeMs + 60_000, LOOKS_AT).reason(report);
}

/** Of these nodes, those in the states that are asked for. */
function inState(nodes: readonly NodeReport[]) {
  return async (states: readonly NodeState[] = []) => nodes.filter(({ state }) => states.includes(state));
}

describe("why an AM that waits for long has no container, among the nodes", () => {
  test("none of those that are active may run it", async () => {
    const nodes = [node("n1", "LOST"), node("n2", "RUNNING", { label: "gpu" })];
    const reason = await reasonWith(nodes, { diagnostics: activated() });
    const facts = { queue: "ml", active: 1, labels: ["gpu"], lost: ["n1"], unhealthy: [] };
    expect(reason).toEqual({ code: "am-no-node", ...facts });
    expect(delayWords(reason)).toBe(
      "the AM may run only on a node without a label in queue ml, and none is active: 1 active node (label gpu); lost: n1",
    );
  });

  test("nor any with the label that it asks for", async () => {
    const nodes = [node("n1", "RUNNING"), node("n2", "UNHEALTHY", { label: "gpu" })];
    const reasonNow = async () => delayWords(await reasonWith(nodes, { diagnostics: activated("gpu") }));
    const said = "the AM may run only on a node with label gpu in queue ml, and none is active: 1 active node";
    expect(await reasonNow()).toBe(`${said}; unhealthy: n2`);
    nodes.push(node("n3", "DECOMMISSIONING", { label: "gpu" }), node("n4", "DECOMMISSIONED", { label: "gpu" }));
    expect(await reasonNow()).toBe(`${said}; unhealthy: n2; being taken out of the cluster: n3`);
  });

  test("that is also why a queue is at its limit, which is then nothing", async () => {
    const diagnostics =
      "[x] Application is added to the scheduler and is not yet activated. Queue's AM resource limit exceeded.  Details : " +
      "AM Partition = <DEFAULT_PARTITION>; Queue Resource Limit for AM = <memory:0, vCores:0>; ";
    const nodes = [node("n2", "RUNNING", { label: "gpu" })];
    expect(await reasonWith(nodes, { diagnostics })).toMatchObject({ code: "am-no-node" });
    expect(await reasonWith([node("n1", "RUNNING")], { diagnostics })).toMatchObject({ code: "am-limit-of-queue" });
    const ofUser = diagnostics.replace("Queue's AM", "User's AM");
    expect(await reasonWith(nodes, { diagnostics: ofUser })).toMatchObject({ code: "am-no-node" });
    const full = activated().replace("used capacity = 0.0 %", "used capacity = 100.0 %");
    expect(await reasonWith(nodes, { diagnostics: full })).toMatchObject({ code: "am-no-node" });
    expect(await reasonWith([node("n1", "RUNNING")], { diagnostics: full })).toMatchObject({ code: "am-queue-full" });
  });

  test("none, of which the labels are told in order", async () => {
    const nodes = ["ssd", "gpu", "ssd"].map((label, index) => node(`n${index}`, "RUNNING", { label }));
    expect(await reasonWith(nodes, { diagnostics: activated() })).toMatchObject({ active: 3, labels: ["gpu", "ssd"] });
  });

  test("those that may have too little room: how much each has", async () => {
    const nodes = [
      node("n1", "RUNNING", { usedMiB: 8064 }),
      node("n2", "RUNNING", { label: "gpu" }),
      node("n3", "RUNNING", { usedMiB: 7680 }),
      node("n4", "LOST"),
    ];
    expect(delayWords(await reasonWith(nodes, { diagnostics: activated() }))).toBe(
      "no container for the AM in queue ml yet: 2 of 3 active nodes may run it; free there: n3 (512 MiB, 30 cores), n1 (128 MiB, 30 cores); lost: n4",
    );
  });

  test("earlier jobs of its queue that wait, too, for which free room may be kept", async () => {
    const report = aReport({ diagnostics: activated() });
    const amount = (memoryMiB: number) => ({ memoryMiB, vcores: 1, others: {} });
    const other = (id: string, laterMs: number, neededMiB: number, { queue = "root.ml", usedMiB = 1024 } = {}) => {
      const usage = { usedContainers: 1, used: amount(usedMiB), needed: amount(neededMiB) };
      const spent = { memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
      const startTimeMs = report.startTimeMs + laterMs;
      return { ...aReport({ state: "RUNNING" }), id, queue, startTimeMs, user: "bob", usage: { ...usage, ...spent } };
    };
    const ended = { state: "FINISHED", finalStatus: "SUCCEEDED" } as const;
    const all = [
      other(report.id, 0, 9_216),
      other("application_1_0001", -5_000, 9_216),
      other("application_1_0002", -4_000, 1024),
      other("application_1_0003", 4_000, 9_216),
      other("application_1_0004", -4_000, 9_216, { queue: "root.other" }),
      other("application_1_0005", -4_000, 0, { usedMiB: -1 }),
      { ...other("application_1_0006", -4_000, 9_216), ...ended },
    ];
    const reports = async ({ states }: ApplicationFilter) => all.filter(({ state }) => states?.includes(state) ?? true);
    const nodes = async () => [node("n1", "RUNNING", { usedMiB: 1024 })];
    const reasons = new WaitingReasons({ ...quiet, nodes, reports }, () => report.startTimeMs + 60_000, LOOKS_AT);
    expect(delayWords(await reasons.reason(report))).toBe(
      "no container for the AM in queue ml yet: earlier jobs of the queue wait for containers, too: application_1_0001 (bob); 1 of 1 active node may run it; free there: n1 (7 GiB, 30 cores)",
    );
  });

  test("is asked for of one that waits for long alone, and seldom", async () => {
    let asked = 0;
    let nowMs = aReport().startTimeMs;
    const nodes = async () => {
      asked += 1;
      return [node("n1", "RUNNING")];
    };
    const reasons = new WaitingReasons({ ...quiet, nodes }, () => nowMs, LOOKS_AT);
    const report = aReport({ diagnostics: activated() });
    expect(await reasons.reason(report)).toEqual({ code: "am-not-placed", queue: "ml" });
    nowMs = report.startTimeMs + 1_499;
    expect(await reasons.reason(report)).toEqual({ code: "am-not-placed", queue: "ml" });
    for (const atMs of [1_500, 3_000, 31_000, 32_000, 33_000]) {
      nowMs = report.startTimeMs + atMs;
      expect(await reasons.reason(report)).toMatchObject({ usable: 1 });
    }
    expect(asked).toBe(2);
    await reasons.reason(
      aReport({ diagnostics: "[x] AM container is launched, waiting for AM container to Register" }),
    );
    expect(asked).toBe(2);
  });

  test("what the ResourceManager does not tell leaves the reason as it is", async () => {
    const report = aReport({ diagnostics: activated() });
    const silent = async () => Promise.reject(new Error("away"));
    const reasons = new WaitingReasons({ ...quiet, nodes: silent }, () => report.startTimeMs + 60_000, LOOKS_AT);
    expect(await reasons.reason(report)).toEqual({ code: "am-not-placed", queue: "ml" });
    const unlabelled = "[x] Application is Activated, waiting for resources to be assigned for AM.  ";
    const nodes = [node("n1", "RUNNING"), node("n2", "RUNNING", { label: "gpu" })];
    expect(await reasonWith(nodes, { diagnostics: unlabelled })).toEqual({ code: "am-not-placed", queue: "ml" });
    expect(await reasonWith(nodes.slice(0, 1), { diagnostics: unlabelled })).toMatchObject({ usable: 1, active: 1 });
  });
});

describe("what a job's containers wait for, among the nodes", () => {
  const ask = { memoryMiB: 4096, vcores: 2, others: {} };
  const reason = { code: "containers", role: "worker", missing: 1, instances: 1, ask: "" } as const;
  const roles = [{ ...role("worker", 1), ...ask, allocated: 0, registered: 0 }];
  const waiting = (sinceMs: number, delays: readonly DelayReason[] = [{ code: "not-given", nodes: 1 }]) =>
    aJobStatus({ roles, nowMs: 10_000, waits: [waitOf({ reason, delays, sinceMs })] });
  const words = ({ waits }: JobStatus) => waits.map(({ reasons: said }) => said.join("; ")).join();

  let nowMs: number;
  let asked: number;
  let away: boolean;
  let usedMiB: number;
  let waits: WaitingReasons;
  beforeEach(() => {
    [nowMs, asked, away, usedMiB] = [1_000_000, 0, false, 6_144];
    const nodes = async () => {
      asked += 1;
      if (away) throw new Error("the ResourceManager is away");
      return [node("n1", "RUNNING", { usedMiB })];
    };
    waits = new WaitingReasons({ ...quiet, nodes }, () => nowMs, LOOKS_AT);
  });

  test("is asked for of a wait that lasts, where the ApplicationMaster knows no more, and seldom", async () => {
    for (const status of [waiting(8_501), waiting(0, []), aJobStatus()]) {
      expect(await waits.explained(status)).toBe(status);
      expect(waits.explainedSoon(status)).toBe(status);
    }
    expect(asked).toBe(0);
    for (const passedMs of [0, 29_999, 1, 29_999]) {
      nowMs += passedMs;
      expect(words(await waits.explained(waiting(8_500)))).toContain("n1 2 GiB");
    }
    expect(asked).toBe(2);
  });

  test("is told of the nodes that run, those with a shared label too, and of the applications that do", async () => {
    const nodes = [
      node("n1", "RUNNING", { usedMiB: 8_192 }),
      node("n2", "LOST"),
      node("n3", "RUNNING", { label: "fast", usedMiB: 8_192 }),
      node("n4", "RUNNING", { label: "gpu" }),
    ];
    const nodeLabels = async () => [
      { name: "gpu", exclusive: true },
      { name: "fast", exclusive: false },
    ];
    const used = { memoryMiB: 8_192, vcores: 2, others: {} };
    const spent = { memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
    const usage = { usedContainers: 1, used, needed: used, ...spent };
    const all = [
      aReport({ id: "application_1_0001", state: "RUNNING", usage }),
      aReport({ id: "application_1_0002", state: "KILLED", usage }),
    ];
    const reports = async ({ states }: ApplicationFilter) => all.filter(({ state }) => states?.includes(state) ?? true);
    const told = new WaitingReasons({ nodes: inState(nodes), nodeLabels, reports }, () => nowMs, LOOKS_AT);
    expect(words(await told.explained(waiting(0)))).toBe(
      "the 2 nodes of the cluster that may run them: too little memory; free: n1 0 MiB, 30 cores, n3 0 MiB, 30 cores; " +
        "memory in use: application_1_0001 (bert of ada in queue ml: 8 GiB), applications that you may not see (8 GiB)",
    );
  });

  test("is asked for in the background by who cannot wait, and told with the next look", async () => {
    expect(waits.explainedSoon(waiting(0))).toEqual(waiting(0));
    expect(asked).toBe(1);
    await waits.explained(waiting(0));
    expect(words(waits.explainedSoon(waiting(0)))).toContain("n1 2 GiB");
    expect(asked).toBe(1);
  });

  test("is told at once by what was heard last", async () => {
    const status = waiting(0);
    expect(waits.explainedSoon(status)).toBe(status);
    await waits.explained(status);
    expect(words(waits.explainedSoon(status))).toContain("n1 2 GiB");
    [usedMiB, nowMs] = [7_168, nowMs + 30_000];
    expect(words(waits.explainedSoon(status))).toContain("n1 2 GiB");
    await waits.explained(status);
    expect(words(waits.explainedSoon(status))).toContain("n1 1 GiB");
    expect(asked).toBe(2);
  });

  test("is what the ApplicationMaster knows where the ResourceManager says nothing, whatever it said before", async () => {
    const status = waiting(0);
    await waits.explained(status);
    [away, nowMs] = [true, nowMs + 30_000];
    expect(await waits.explained(status)).toBe(status);
    expect(waits.explainedSoon(status)).toBe(status);
  });
});

test("an AM that has its container and does not register looks for the ResourceManager at an address, which is named in time", async () => {
  let nowMs = 1_000;
  const reasons = new WaitingReasons({ ...quiet, nodes: async () => [] }, () => nowMs, LOOKS_AT);
  const report = aReport({ diagnostics: "[x] AM container is launched, waiting for AM container to Register with RM" });
  expect(await reasons.reason(report)).toEqual({ code: "am-starting" });
  nowMs += 19_999;
  expect(await reasons.reason(report)).toEqual({ code: "am-starting" });
  nowMs += 1;
  expect(await reasons.reason({ ...report, id: "application_1_0002" })).toEqual({ code: "am-starting" });
  expect(delayWords(await reasons.reason(report))).toBe(
    "the AM has its container and has not registered yet: it looks for the ResourceManager at " +
      "yarn.resourcemanager.scheduler.address (yarn-site.xml) = rm:9",
  );
});
