import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Cluster } from "../../../client/cluster/cluster.ts";
import { askSubmissionFacts, awayNodes, freeOf, isFairScheduler } from "../../../client/cluster/cluster-facts.ts";
import { queueInfoFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { aNode, StandInCluster } from "../submission/stand-in-cluster.ts";

describe("what a submission asks of a cluster", () => {
  let there: StandInCluster;
  let cluster: Cluster;
  beforeEach(async () => {
    there = await StandInCluster.start();
    cluster = await Cluster.open(there.context);
  });
  afterEach(async () => {
    cluster.close();
    await there.stop();
  });
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

  test("is which nodes run, which may come back, and which labels others may use", async () => {
    there.manager.labels = [
      { name: "gpu", exclusive: true },
      { name: "fast", exclusive: false },
    ];
    there.manager.nodes = [aNode("n1", { labels: ["fast"] }), aNode("n2", { state: "DECOMMISSIONED" })];
    expect(await ask()).toMatchObject({
      nodes: [{ host: "n1" }],
      awayNodes: [],
      nodesAreAway: false,
      nodeLabels: ["gpu", "fast"],
      sharedLabels: ["fast"],
      maximum: { memoryMiB: 8_192, vcores: 4 },
    });
    there.manager.nodes = [aNode("n1"), aNode("n2", { state: "LOST", labels: ["gpu"] })];
    expect(await ask()).toMatchObject({ nodes: [{ host: "n1" }], awayNodes: [{ host: "n2" }], nodesAreAway: true });
  });
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
