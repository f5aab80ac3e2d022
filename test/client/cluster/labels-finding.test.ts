import { expect, test } from "@jest/globals";
import { awayNodes } from "../../../client/cluster/cluster-facts.ts";
import { labelsFinding } from "../../../client/cluster/labels-finding.ts";
import type { NodeReport, NodeState } from "../../../src/hadoop/yarn/records.ts";

const size = { memoryMiB: 8192, vcores: 8, others: {} };

function node(host: string, state: NodeState, ...labels: string[]): NodeReport {
  const is = { nodeId: `${host}:1`, host, httpAddress: "", rack: "/r", state, labels, healthReport: "" } as const;
  return { ...is, used: size, capability: size, containerCount: 0 };
}

function found(nodes: readonly NodeReport[]) {
  const labels = [
    { name: "gpu", exclusive: false },
    { name: "big", exclusive: true },
  ];
  return labelsFinding("ml", { labels, queue: undefined, away: awayNodes(nodes) });
}

test("labels are told, and whether others may use their nodes", () => {
  expect(found([node("a", "RUNNING", "gpu"), node("b", "LOST", "gpu"), node("c", "LOST")])).toEqual({
    subject: "labels",
    state: "well",
    found: "gpu (shared), big; queue ml reaches none",
  });
  expect(labelsFinding("ml", { labels: [], queue: undefined, away: [] }).found).toBe("the cluster has no node labels");
});

test("a label whose nodes are all away is remarked on, with their states", () => {
  const nodes = [node("a", "RUNNING"), node("b", "DECOMMISSIONING", "gpu"), node("c", "UNHEALTHY", "gpu")];
  expect(found(nodes)).toMatchObject({
    state: "remark",
    found: "gpu (shared), big; queue ml reaches none; no node with label gpu runs: b (DECOMMISSIONING), c (UNHEALTHY)",
  });
});
