import { expect, test } from "@jest/globals";
import { mostOf, queueShares } from "../../../client/cluster/cluster-facts.ts";
import { queueInfoFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";
import type { QueueInfo } from "../../../src/hadoop/yarn/records.ts";

const amount = (memoryMiB: number, gpus: number) => ({ memoryMiB, vcores: 8, others: { "yarn.io/gpu": gpus } });
const node = (host: string, ...labels: string[]) => ({
  ...{ nodeId: `${host}:1`, host, rack: "/r", labels },
  total: amount(8192, labels.length > 0 ? 4 : 0),
});
const nodes = [node("a"), node("b"), node("c", "gpu")];
const wire = (most: Readonly<Record<string, number>>) => ({
  queueName: "ml",
  queueConfigurationsMap: Object.entries(most).map(([partitionName, memory]) => ({
    partitionName,
    queueConfigurations: { effectiveMaxCapacity: { memory, virtual_cores: memory / 1024 } },
  })),
});

test("a queue's most of the nodes with each label is a share of what they have", () => {
  const queue = queueInfoFromWire(wire({ "": 4096, gpu: 8192, other: 1024 }));
  expect(queueShares({ queue, nodes })).toEqual({
    queueShares: { queue: "ml", ofLabels: { "": { memoryMiB: 0.25, vcores: 0.25, others: { "yarn.io/gpu": 1 } } } },
  });
});

test("a queue's most of other resources is a share, too, where it is limited", () => {
  const limit = { memoryMiB: 4096, vcores: 8, others: { "yarn.io/gpu": 1 } };
  const queue = { ...queueInfoFromWire(wire({})), mostByLabel: { gpu: limit } };
  expect(queueShares({ queue, nodes })).toEqual({
    queueShares: { queue: "ml", ofLabels: { gpu: { memoryMiB: 0.5, vcores: 1, others: { "yarn.io/gpu": 0.25 } } } },
  });
});

test("FairScheduler's most is that of the queue or of one above it, and cores alone may be what it lacks", async () => {
  const fair = (queueName: string, maxResourceMemory: number, minResourceVCore: number) =>
    queueInfoFromWire({ queueName, schedulerType: "FairScheduler", maxResourceMemory, minResourceVCore });
  const above = new Map([["root.team", fair("root.team", 4096, 16)]]);
  const asked: string[] = [];
  const queueOf = async (name: string) => {
    asked.push(name);
    return above.get(name);
  };
  const most = (queue: QueueInfo) => mostOf({ queue: queueOf }, queue);
  expect(await most(fair("root.team.a", 16384, 2))).toEqual({ "": { memoryMiB: 4096, vcores: 2, others: {} } });
  expect(await most(fair("root.ml", 16384, 2))).toEqual({ "": { memoryMiB: 16384, vcores: 2, others: {} } });
  expect(await most(fair("root.other.a", 0, 0))).toEqual({});
  expect(asked).toEqual(["root.team", "root.other"]);
  const queue = { ...fair("root.ml", 16384, 2), name: "root.ml" };
  expect(queueShares({ queue, nodes })).toMatchObject({
    queueShares: { queue: "root.ml", ofLabels: { "": { memoryMiB: 1, vcores: 0.125 } } },
  });
  expect(queueShares({ queue: { ...fair("root.ml", 4096, 64), name: "root.ml" }, nodes })).toMatchObject({
    queueShares: { ofLabels: { "": { memoryMiB: 0.25, vcores: 1 } } },
  });
});

test("nothing is told of a queue that may have all, whose ResourceManager does not say, or of no nodes", () => {
  for (const told of [wire({ "": 16384 }), wire({}), wire({ other: 1024 })]) {
    expect(queueShares({ queue: queueInfoFromWire(told), nodes })).toEqual({});
  }
  expect(queueShares({ nodes })).toEqual({});
});
