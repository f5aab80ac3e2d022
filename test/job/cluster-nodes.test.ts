import { expect, test } from "@jest/globals";
import { formatClusterNodes, type NodeSnapshot, parseClusterNodes } from "../../src/job/cluster-nodes.ts";

const place = { nodeId: "n:8041", host: "n", rack: "/r", labels: [] };

test("comes back as the cluster told it: less than nothing free, or nothing told", () => {
  const total = { memoryMiB: 8192, vcores: 2, others: {} };
  const nodes: NodeSnapshot[] = [
    { ...place, free: { ...total, vcores: -5 }, total },
    { ...place, state: "LOST" },
    place,
  ];
  expect(parseClusterNodes(formatClusterNodes(nodes))).toEqual(nodes);
});

test("what we write ourselves is as it should be, or the file is damaged", () => {
  const damaged = JSON.stringify([{ ...place, labels: "gpu" }]);
  expect(() => parseClusterNodes(damaged)).toThrow(/nodes\.json is not usable: nodes\[0\]\.labels must be a list/);
});
