import { setImmediate } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { heldContainers } from "../../../client/cluster/held-containers.ts";
import { nodesOverview } from "../../../client/cluster/nodes-overview.ts";
import { HadoopError } from "../../../src/hadoop/errors.ts";
import { RemoteError } from "../../../src/hadoop/rpc/remote-error.ts";
import type { ApplicationReport, ContainerReport } from "../../../src/hadoop/yarn/records.ts";
import { aReport } from "../application-report.ts";
import { aNode } from "../submission/stand-in-cluster.ts";

const none = { memoryMiB: 0, vcores: 0, others: {} };
/** An application that holds containers of so much memory. */
function holder(number: number, memoryMiB = 1_024, usedContainers = 1): ApplicationReport {
  const name = String(number).padStart(4, "0");
  const used = { ...none, memoryMiB };
  const usage = { usedContainers, used, needed: none, memorySeconds: 0, vcoreSeconds: 0, resourceSeconds: {} };
  return aReport({ id: `application_1_${name}`, currentAttemptId: `appattempt_1_${name}_000001`, usage });
}
const on = (nodeId: string): ContainerReport => ({ containerId: "container_1_0001_01_000001", nodeId, resource: none });

test("each application that holds containers is asked for once, whatever becomes of the others", async () => {
  const reports = Array.from({ length: 120 }, (_, index) => holder(index + 1, 2_000 - index));
  const asked: string[] = [];
  const containers = async (attemptId: string) => {
    asked.push(attemptId);
    if (asked.length <= 60) throw new RemoteError("org.apache.hadoop.security.AccessControlException", "not yours");
    return [on("n1:1")];
  };
  const held = await heldContainers({ containers }, [aReport({ id: "application_1_9999" }), ...reports.toReversed()]);
  expect([asked.length, new Set(asked).size, held.size]).toEqual([100, 100, 40]);
  expect(asked).not.toContain("appattempt_1_0101_000001");
});

test("a few are asked for at once, and what has no attempt for nothing", async () => {
  const { currentAttemptId: _, ...early } = holder(9, 9_000);
  let [waiting, most] = [0, 0];
  const containers = async () => {
    waiting += 1;
    most = Math.max(most, waiting);
    await setImmediate();
    waiting -= 1;
    return [on("n1:1")];
  };
  const reports = [early, ...Array.from({ length: 20 }, (_none, index) => holder(index + 10))];
  const held = await heldContainers({ containers }, reports);
  expect([most, held.size, held.has(early.id)]).toEqual([8, 20, false]);
});

test("a ResourceManager that is away is no application that may not be seen", async () => {
  const away = new HadoopError("no answer", { code: "RPC_TIMEOUT" });
  const containers = async () => Promise.reject(away);
  await expect(heldContainers({ containers }, [holder(1)])).rejects.toBe(away);
});

test("an overview has the largest holders first, and of each the nodes with most of its containers, else by their names", () => {
  const reports = [holder(1, 1_024), holder(2, 4_096), holder(3, 8_192, 0), aReport({ id: "application_1_0004" })];
  const places = ["n10:1", "n2:1", "n1:1", "n1:1"].map(on);
  const { holders, nodes, labels } = nodesOverview(
    [aNode("n10"), aNode("n2"), aNode("n3", { state: "LOST", healthReport: "disk" }), aNode("n1", { labels: ["gpu"] })],
    reports,
    new Map([["application_1_0001", places]]),
  );
  expect(holders.map(({ applicationId }) => applicationId)).toEqual(["application_1_0002", "application_1_0001"]);
  expect(holders[0]).not.toHaveProperty("places");
  expect(holders[1]?.places?.map(({ host, containers }) => [host, containers])).toEqual([
    ["n1", 2],
    ["n2", 1],
    ["n10", 1],
  ]);
  expect(nodes.map(({ host, health, free }) => [host, health, free.memoryMiB])).toEqual([
    ["n2", undefined, 8_192],
    ["n3", "disk", 0],
    ["n10", undefined, 8_192],
    ["n1", undefined, 8_192],
  ]);
  expect(labels).toMatchObject([
    { nodes: 2, free: { memoryMiB: 16_384 } },
    { label: "gpu", nodes: 1 },
  ]);
  expect(labels[0]).not.toHaveProperty("label");
});

test("an overview has all of a node and of a holder that programs may ask for, the labels in order", () => {
  const used = { memoryMiB: 1_024, vcores: 1, others: {} };
  const capability = { memoryMiB: 8_192, vcores: 4, others: {} };
  const ssd = aNode("n1", { rack: "/r1", labels: ["ssd"], used, containerCount: 1 });
  const report = { ...holder(1), type: "SPARK" };
  const overview = nodesOverview(
    [ssd, aNode("n3"), aNode("n2", { labels: ["gpu"] })],
    [report],
    new Map([[report.id, [on("n1:1")]]]),
  );
  expect(overview.nodes.map(({ host }) => host)).toEqual(["n3", "n2", "n1"]);
  expect(overview.nodes[2]).toEqual({
    ...{ nodeId: "n1:45454", host: "n1", rack: "/r1", state: "RUNNING", label: "ssd" },
    ...{ total: capability, used, free: { memoryMiB: 7_168, vcores: 3, others: {} }, containers: 1 },
  });
  expect(overview.holders).toEqual([
    {
      ...{ applicationId: "application_1_0001", user: "ada", queue: "root.ml", name: "bert", type: "SPARK" },
      ...{ used: { ...none, memoryMiB: 1_024 }, containers: 1 },
      places: [{ nodeId: "n1:1", host: "n1", containers: 1 }],
    },
  ]);
});
