import { expect, test } from "@jest/globals";
import { NodeTable } from "../../../am/scheduler/yarn/node-table.ts";
import type { NodeReport } from "../../../src/hadoop/yarn/records.ts";

const total = { memoryMiB: 8192, vcores: 8, others: {} };
const own = { host: "a", resource: { memoryMiB: 512, vcores: 1, others: {} } };

function snapshot(host: string, ...labels: string[]) {
  return { nodeId: `${host}:8041`, host, rack: "/default-rack", labels, free: total, total };
}

test("nodes of the submission are usable, less what the ApplicationMaster itself took since", () => {
  const table = new NodeTable({ nodes: [snapshot("a"), snapshot("b")], sharedLabels: [] }, own);
  expect(table.all).toMatchObject([
    { host: "a", usable: true, free: { memoryMiB: 7680, vcores: 7 } },
    { host: "b", usable: true, free: { memoryMiB: 8192, vcores: 8 } },
  ]);
});

test("a node that has given out more than it has, or tells nothing, is usable all the same", () => {
  const over = { ...snapshot("a"), free: { memoryMiB: 1024, vcores: -5, others: {} } };
  const { free: _free, total: _total, ...untold } = snapshot("b");
  const table = new NodeTable({ nodes: [over, untold], sharedLabels: [] }, own);
  expect(table.all[0]).toMatchObject({ host: "a", usable: true, free: { memoryMiB: 512, vcores: 0 } });
  expect(table.all[1]).toEqual({ ...untold, usable: true });
});

test("a node says what its queue may have of it, also when it is reported, where YARN has the job in that queue", () => {
  const half = { memoryMiB: 0.5, vcores: 0.5, others: {} };
  const queueShares = { queue: "ml", ofLabels: { gpu: half } };
  const report = { httpAddress: "", capability: total, used: total, containerCount: 1, healthReport: "" };
  const sharesIn = (queue: string) => {
    const table = new NodeTable({ nodes: [snapshot("a"), snapshot("b", "gpu")], sharedLabels: [], queueShares }, own);
    table.registeredIn(queue);
    const [told] = table.update([{ ...snapshot("c", "gpu"), ...report, state: "RUNNING" }]);
    return [...table.all, told].map((view) => view?.queueShare);
  };
  expect(sharesIn("root.ml")).toEqual([undefined, half, half, half]);
  for (const other of ["root.other", ""]) expect(sharesIn(other).filter(Boolean)).toEqual([]);
});

test("a node of the submission that did not run then is not usable, and says in which state it was", () => {
  const nodes = [
    { ...snapshot("a", "gpu"), state: "LOST" },
    { ...snapshot("b", "gpu"), state: "DECOMMISSIONING" },
  ] as const;
  const [lost, leaving] = new NodeTable({ nodes, sharedLabels: [] }, { ...own, host: "m" }).all;
  expect(lost).toEqual({ ...nodes[0], usable: false });
  expect(leaving).toEqual({ ...nodes[1], usable: false, decommissioning: {} });
});

test("an unhealthy node is not usable, and says why", () => {
  const table = new NodeTable({ nodes: [snapshot("a"), snapshot("b")], sharedLabels: [] }, own);
  const report = { httpAddress: "", capability: total, used: total, containerCount: 1, state: "UNHEALTHY" } as const;
  const [view] = table.update([{ ...snapshot("b"), ...report, healthReport: "1/1 local-dirs are bad: /data ; " }]);
  expect(view).toMatchObject({ host: "b", usable: false, healthReport: "1/1 local-dirs are bad: /data" });
  expect(table.all[1]).toEqual(view);
});

test("a node that is being taken out of the cluster is not usable, and says how long it may take", () => {
  const table = new NodeTable({ nodes: [snapshot("a"), snapshot("b")], sharedLabels: [] }, own);
  const report = { httpAddress: "", capability: total, used: total, containerCount: 1, healthReport: "" };
  const seen = (change: Pick<NodeReport, "state" | "decommissioningTimeoutS">) =>
    table.update([{ ...snapshot("b"), ...report, ...change }]).map(({ usable, decommissioning }) => {
      return usable ? "usable" : decommissioning;
    });
  expect(seen({ state: "DECOMMISSIONING", decommissioningTimeoutS: 60 })).toEqual([{ timeoutMs: 60_000 }]);
  expect(seen({ state: "DECOMMISSIONING" })).toEqual([{}]);
  expect(seen({ state: "DECOMMISSIONED", decommissioningTimeoutS: 60 })).toEqual([{ timeoutMs: 0 }]);
  expect(seen({ state: "RUNNING", decommissioningTimeoutS: 60 })).toEqual(["usable"]);
});

test("a node whose label is shared is not exclusive, also after the ResourceManager has spoken of it", () => {
  const nodes = [snapshot("a"), snapshot("b", "gpu"), snapshot("c", "ssd")];
  const table = new NodeTable({ nodes, sharedLabels: ["gpu"] }, own);
  const nonExclusive = () => table.all.filter((node) => node.nonExclusive).map(({ host }) => host);
  expect(nonExclusive()).toEqual(["b"]);
  const report = { httpAddress: "", capability: total, used: own.resource, containerCount: 1, healthReport: "" };
  table.update([{ ...snapshot("b", "gpu"), ...report, state: "RUNNING" }]);
  expect(nonExclusive()).toEqual(["b"]);
  expect(table.all[1]).toMatchObject({ free: { memoryMiB: 7680, vcores: 7 } });
});

test("the ApplicationMaster's own node says what that takes there, also once the ResourceManager has spoken of it", () => {
  const table = new NodeTable({ nodes: [snapshot("a"), snapshot("b")], sharedLabels: [] }, own);
  const masters = () => table.all.map(({ master }) => master);
  expect(masters()).toEqual([own.resource, undefined]);
  const report = { httpAddress: "", capability: total, used: own.resource, containerCount: 1, healthReport: "" };
  table.update(["a", "b"].map((host) => ({ ...snapshot(host), ...report, state: "RUNNING" })));
  expect(masters()).toEqual([own.resource, undefined]);
});
