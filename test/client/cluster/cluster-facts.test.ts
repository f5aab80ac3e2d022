import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Cluster } from "../../../client/cluster/cluster.ts";
import {
  askSubmissionFacts,
  awayNodes,
  freeOf,
  isFairScheduler,
  queueFacts,
} from "../../../client/cluster/cluster-facts.ts";
import { queueInfoFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { aNode, StandInCluster } from "../submission/stand-in-cluster.ts";

describe("what a submission asks of a cluster", () => {
  let there: StandInCluster;
  let cluster: Cluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
    cluster = await there.open();
  });
  afterEach(() => there.stop());
  const ask = (changes: Partial<JobSpec> = {}) => askSubmissionFacts(cluster.resourceManager, aJobSpec(changes));

  test("is its own queue alone where that takes it, else all that do", async () => {
    expect(await ask({ queue: "ml" })).toMatchObject({
      queue: { name: "ml" },
      leafQueues: ["ml"],
      queuesAreOpen: false,
    });
    const unknown = await ask({ queue: "mll" });
    expect(unknown).toMatchObject({ leafQueues: ["default", "ml"], queuesAreOpen: false });
    expect(unknown).not.toHaveProperty("queue");
    there.manager.stopped = ["ml"];
    expect(await ask({ queue: "ml" })).toMatchObject({ queue: { state: "STOPPED" }, leafQueues: ["default", "ml"] });
  });

  test("is all queues that have none below themselves, also where its own only holds others", async () => {
    there.manager.queues = ["default", "team.small", "team.large.night"];
    expect(await ask({ queue: "team" })).toMatchObject({
      queue: { children: [{ name: "small" }, { name: "large" }] },
      leafQueues: ["default", "small", "night"],
      queuesAreOpen: false,
    });
  });

  test("is of a FairScheduler what its queue may have, which those above it may have less of", async () => {
    there.manager.queues = ["team.small"];
    there.manager.fair = {
      "root.team": { memoryMiB: 4_096, vcores: 4 },
      "root.team.small": { memoryMiB: 8_192, vcores: 2 },
    };
    const most = { "": { memoryMiB: 4_096, vcores: 2, others: {} } };
    expect(await ask({ queue: "small" })).toMatchObject({ queue: { name: "root.team.small", mostByLabel: most } });
    expect(await ask({ queue: "unknown" })).toMatchObject({ leafQueues: ["root.team.small"], queuesAreOpen: true });
  });

  test("is which attributes nodes have, for a job alone that places tasks by constraints", async () => {
    there.manager.attributes = ["java"];
    const constrained = { roles: [aRole("ps", 1), aRole("worker", 1, { constrained: { tags: [] } })] };
    expect(await ask(constrained)).toMatchObject({ nodeAttributes: ["rm.yarn.io/java"] });
    expect(await ask()).not.toHaveProperty("nodeAttributes");
  });

  test.each([
    ["NEW", true],
    ["UNHEALTHY", true],
    ["LOST", true],
    ["REBOOTED", true],
    ["DECOMMISSIONING", false],
    ["DECOMMISSIONED", false],
  ] as const)("is who has a label that no node has that runs: one that is %s may come back: %s", async (state, may) => {
    there.manager.nodes = [aNode("n1"), aNode("n2", { state, labels: ["gpu"] })];
    expect(await ask()).toMatchObject({ awayNodes: [{ host: "n2", state }], nodesAreAway: may });
  });

  test("is which nodes run, which may come back, and which labels others may use", async () => {
    there.manager.labels = [
      { name: "gpu", exclusive: true },
      { name: "fast", exclusive: false },
    ];
    there.manager.maximum = { memoryMiB: 6_144, vcores: 3 };
    const used = { memoryMiB: 1_024, vcores: 1, others: {} };
    there.manager.nodes = [aNode("n1", { labels: ["fast"], used }), aNode("n2", { state: "DECOMMISSIONED" })];
    const facts = await ask();
    expect(facts.nodes).toEqual([
      {
        ...{ nodeId: "n1:45454", host: "n1", rack: "", labels: ["fast"] },
        free: { memoryMiB: 7_168, vcores: 3, others: {} },
        total: { memoryMiB: 8_192, vcores: 4, others: {} },
      },
    ]);
    expect(facts).toMatchObject({
      application: { id: "application_1795305600000_0001" },
      resourceTypes: [{ name: "memory-mb" }, { name: "vcores" }],
      awayNodes: [],
      nodesAreAway: false,
      nodeLabels: ["gpu", "fast"],
      sharedLabels: ["fast"],
      maximum: { memoryMiB: 6_144, vcores: 3 },
    });
    there.manager.nodes = [aNode("n1"), aNode("n2", { state: "LOST", labels: ["gpu"] })];
    expect(await ask()).toMatchObject({ nodes: [{ host: "n1" }], awayNodes: [{ host: "n2" }], nodesAreAway: true });
  });
});

test("a ResourceManager that shows no queue may take any", async () => {
  const asked: unknown[] = [];
  const queue = async (...how: readonly unknown[]) => {
    asked.push(how);
    return undefined;
  };
  expect(await queueFacts({ queue })).toEqual({ leafQueues: [], queuesAreOpen: true });
  expect(asked).toEqual([["root", { children: true, recursive: true }]]);
});

test("nodes that do not run matter where none that does has their label", () => {
  const nodes = [
    aNode("n1", { labels: ["fast"] }),
    aNode("n2", { state: "LOST", labels: ["fast"] }),
    aNode("n3", { state: "LOST" }),
    aNode("n4", { state: "LOST", labels: [""] }),
    aNode("n5", { state: "UNHEALTHY", labels: ["gpu"] }),
  ];
  expect(awayNodes(nodes)).toMatchObject([{ host: "n5", state: "UNHEALTHY" }]);
});

test("what a node has left is what nobody holds of it, of each kind", () => {
  const capability = { memoryMiB: 8_192, vcores: 4, others: { "yarn.io/gpu": 4, "yarn.io/fpga": 1 } };
  const used = { memoryMiB: 1_024, vcores: 1, others: { "yarn.io/gpu": 3 } };
  expect(freeOf(aNode("n1", { capability, used }))).toEqual({
    memoryMiB: 7_168,
    vcores: 3,
    others: { "yarn.io/gpu": 1, "yarn.io/fpga": 1 },
  });
});

test("FairScheduler is known by its root, which is alone, or whose queues are named by their paths", () => {
  const root = (...names: string[]) =>
    queueInfoFromWire({ queueName: "root", childQueues: names.map((queueName) => ({ queueName })) });
  expect([root(), root("root.ml"), root("ml")].map(isFairScheduler)).toEqual([true, true, false]);
});
