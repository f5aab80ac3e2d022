import { expect, test } from "@jest/globals";
import { queueShares } from "../../../client/cluster/cluster-facts.ts";
import { queueInfoFromWire } from "../../../src/hadoop/yarn/convert-reports.ts";

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
    queueConfigurations: { effectiveMaxCapacity: { memory, virtual_cores: 4 } },
  })),
});

test("a queue's most of the nodes with each label is a share of what they have", () => {
  const queue = queueInfoFromWire(wire({ "": 4096, gpu: 8192 }));
  expect(queueShares({ queue, nodes })).toEqual({
    queueShares: { queue: "ml", ofLabels: { "": { memoryMiB: 0.25, vcores: 0.25, others: { "yarn.io/gpu": 1 } } } },
  });
});

test("nothing is told of a queue that may have all, whose ResourceManager does not say, or of no nodes", () => {
  for (const told of [wire({ "": 16384 }), wire({}), wire({ other: 1024 })]) {
    expect(queueShares({ queue: queueInfoFromWire(told), nodes })).toEqual({});
  }
  expect(queueShares({ nodes })).toEqual({});
});
