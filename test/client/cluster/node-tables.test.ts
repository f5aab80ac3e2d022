import { describe, expect, test } from "@jest/globals";
import { nodeLines } from "../../../client/cluster/node-tables.ts";
import { nodesOverview, shownStates } from "../../../client/cluster/nodes-overview.ts";
import type { NodeReport, NodeState } from "../../../src/hadoop/yarn/records.ts";
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
    const reports = [
      aReport(),
      holding("application_1_0001", 1024),
      { ...holding("application_1_0002", 2048, gpus(2)), queue: "root.team.ml" },
    ];
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

  test("are cut to a readable number, and so are who holds them", () => {
    const nodes = (count: number) => Array.from({ length: count }, (_, index) => aNode(`node-${index}`));
    const holders = (count: number) =>
      Array.from({ length: count }, (_, index) => holding(`application_1_${String(index + 1).padStart(4, "0")}`, 1024));
    const cut = nodeLines(nodesOverview(nodes(130), holders(101), new Map()));
    expect(cut.filter((line) => line.startsWith("node-"))).toHaveLength(100);
    expect(cut).toContain("30 nodes not shown: --json has all");
    expect(cut.filter((line) => line.startsWith("application_"))).toHaveLength(100);
    expect(cut.at(-1)).toBe("1 application not shown: --json has all");
    const whole = nodeLines(nodesOverview(nodes(100), holders(100), new Map()));
    expect(whole.filter((line) => line.includes("not shown"))).toEqual([]);
  });

  test("have a column for each kind of resource that any has, and nothing free of one that is overdrawn", () => {
    const fpga = aNode("n1", {
      capability: { memoryMiB: 1024, vcores: 1, others: { "yarn.io/gpu": 1, "acme.com/fpga": 2 } },
    });
    const gpu = aNode("n2", {
      capability: { memoryMiB: 1024, vcores: 1, others: gpus(2) },
      used: { memoryMiB: 0, vcores: 0, others: gpus(3) },
    });
    expect(nodeLines(nodesOverview([gpu, fpga], [], new Map())).slice(0, 3)).toEqual([
      "node   state     label   memory free      cores free   acme.com/fpga free   GPUs free   containers",
      "n1     RUNNING   –       1 GiB of 1 GiB   1 of 1       2 of 2               1 of 1      0",
      "n2     RUNNING   –       1 GiB of 1 GiB   1 of 1       –                    0 of 2      0",
    ]);
  });

  test("that are well have no words about it beside one that is not, whatever they report", () => {
    const nodes = [
      aNode("n1", { healthReport: "fine" }),
      aNode("n2", { state: "LOST", healthReport: " gone " }),
      aNode("n3", { state: "NEW" }),
    ];
    const overview = nodesOverview(nodes, [], new Map());
    expect(overview.nodes.map((one) => "health" in one)).toEqual([false, true, false]);
    expect(nodeLines(overview).slice(0, 4)).toEqual([
      "node   state     label   memory free      cores free   containers   health",
      "n1     RUNNING   –       8 GiB of 8 GiB   32 of 32     0",
      "n2     LOST      –       0 MiB of 8 GiB   0 of 32      0            gone",
      "n3     NEW       –       0 MiB of 8 GiB   0 of 32      0",
    ]);
  });

  test("may not be there at all", () => {
    expect(nodeLines(nodesOverview([], [holding("application_1_0001", 1024)], new Map()))).toEqual(["No nodes"]);
  });

  test("are asked for in every state in which they hold containers, or may again", () => {
    const states: readonly NodeState[] = [
      "NEW",
      "RUNNING",
      "UNHEALTHY",
      "DECOMMISSIONED",
      "LOST",
      "REBOOTED",
      "DECOMMISSIONING",
      "SHUTDOWN",
    ];
    expect(states.filter((state) => !shownStates.includes(state))).toEqual(["DECOMMISSIONED", "SHUTDOWN"]);
  });
});
