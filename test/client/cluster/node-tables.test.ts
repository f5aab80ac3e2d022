import { describe, expect, test } from "@jest/globals";
import { nodeLines } from "../../../client/cluster/node-tables.ts";
import { nodesOverview } from "../../../client/cluster/nodes-overview.ts";
import type { NodeReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";

const gpus = (count: number) => ({ "yarn.io/gpu": count });

function aNode(host: string, changes: Partial<NodeReport> = {}): NodeReport {
  return {
    nodeId: `${host}:45454`,
    host,
    httpAddress: `${host}:8042`,
    rack: "/default-rack",
    state: "RUNNING",
    used: { memoryMiB: 0, vcores: 0, others: {} },
    capability: { memoryMiB: 8192, vcores: 32, others: {} },
    containerCount: 0,
    labels: [],
    healthReport: "",
    ...changes,
  };
}

const gpuNode = aNode("gpu-1", {
  labels: ["gpu"],
  used: { memoryMiB: 2048, vcores: 3, others: gpus(2) },
  capability: { memoryMiB: 8192, vcores: 32, others: gpus(2) },
  containerCount: 3,
});
const holding = (id: string, memoryMiB: number, others = {}) =>
  aReport({
    id,
    state: "RUNNING",
    usage: {
      usedContainers: 3,
      used: { memoryMiB, vcores: 3, others },
      needed: { memoryMiB, vcores: 3, others },
      memorySeconds: 1,
      vcoreSeconds: 1,
      resourceSeconds: {},
    },
  });

describe("the nodes of a cluster", () => {
  test("are shown with what is free of what they have, and who holds the rest", () => {
    const reports = [aReport(), holding("application_1_0001", 1024), holding("application_1_0002", 2048, gpus(2))];
    const on = (host: string, sequence: number) => ({
      containerId: `container_1_0002_01_00000${sequence}`,
      nodeId: `${host}:45454`,
      resource: { memoryMiB: 1024, vcores: 1, others: {} },
    });
    const held = new Map([["application_1_0002", [on("cpu-2", 1), on("gpu-1", 2), on("gpu-1", 3)]]]);
    expect(nodeLines(nodesOverview([gpuNode, aNode("cpu-10"), aNode("cpu-2")], reports, held))).toEqual([
      "node     state     label   memory free      cores free   GPUs free   containers",
      "cpu-2    RUNNING   –       8 GiB of 8 GiB   32 of 32     –           0",
      "cpu-10   RUNNING   –       8 GiB of 8 GiB   32 of 32     –           0",
      "gpu-1    RUNNING   gpu     6 GiB of 8 GiB   29 of 32     0 of 2      3",
      "",
      "label   nodes   memory free        cores free   GPUs free",
      "–       2       16 GiB of 16 GiB   64 of 64     –",
      "gpu     1       6 GiB of 8 GiB     29 of 32     0 of 2",
      "",
      "application          user   queue   name   containers   holds                    on",
      "application_1_0002   ada    ml      bert   3            2 GiB, 3 cores, 2 GPUs   gpu-1 (2), cpu-2",
      "application_1_0001   ada    ml      bert   3            1 GiB, 3 cores           –",
    ]);
  });

  test("have nothing free where they do not run, and say why", () => {
    const sick = aNode("cpu-1", { state: "UNHEALTHY", healthReport: "1/1 local-dirs\nhave errors" });
    const { nodes, labels } = nodesOverview([sick], [], new Map());
    expect(nodes[0]).toMatchObject({ free: { memoryMiB: 0, vcores: 0 }, total: { memoryMiB: 8192 } });
    expect(labels).toEqual([]);
    expect(nodeLines(nodesOverview([sick], [], new Map()))).toEqual([
      "node    state       label   memory free      cores free   containers   health",
      "cpu-1   UNHEALTHY   –       0 MiB of 8 GiB   0 of 32      0            1/1 local-dirs have errors",
      "",
      "No application holds a container",
    ]);
  });

  test("have no table of labels where they have all the same, and nothing free where more is used than they have", () => {
    const used = { memoryMiB: 9_216, vcores: 40, others: {} };
    expect(nodeLines(nodesOverview([aNode("n1", { used })], [], new Map())).slice(1)).toEqual([
      "n1     RUNNING   –       0 MiB of 8 GiB   0 of 32      0",
      "",
      "No application holds a container",
    ]);
  });

  test("are named of an application where it has a few, and counted where it has more", () => {
    const on = [1, 2, 3, 4, 5, 6].map((index) => ({
      containerId: `container_1_0002_01_00000${index}`,
      nodeId: `n${index}:45454`,
      resource: { memoryMiB: 1024, vcores: 1, others: {} },
    }));
    const reports = [holding("application_1_0002", 2048)];
    const lines = nodeLines(nodesOverview([aNode("n1")], reports, new Map([["application_1_0002", on]])));
    expect(lines.at(-1)).toMatch(/ n1, n2, n3, n4 and 2 more$/);
  });

  test("are cut to a readable number", () => {
    const many = Array.from({ length: 130 }, (_, index) => aNode(`node-${index}`));
    expect(nodeLines(nodesOverview(many, [], new Map()))).toContain("30 nodes not shown: --json has all");
  });
});
