import { describe, expect, test } from "@jest/globals";
import type { JobStatus } from "../../src/job/status.ts";
import { type ClusterNode, testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { at, listAt, requestJson } from "../support/http-json.ts";
import { isRunning } from "../support/processes.ts";
import { eventually } from "../support/rest-application.ts";

const cluster = await testCluster();

describe("a node", () => {
  const suite = new FaultSuite(cluster);

  test("is lost with all it ran: its task moves to another one, no program budget pays, the report names the node", async () => {
    const job = await suite.submit({ workers: 3, settings: { "tony.worker.placement": "spread" } });
    const before = await job.running(1, 3);
    const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
    const master = job.nodeOfMaster();
    const lost = tasks.find(({ host }) => host !== undefined && nodeAt(host).name !== master);
    const node = nodeAt(lost?.host);
    await suite.loseNode(node);

    const again = await job.running(2, 3);
    expect(again.filter(({ task }) => task !== lost?.task).map(({ containerId }) => containerId)).toEqual(
      before.filter(({ task }) => task !== lost?.task).map(({ containerId }) => containerId),
    );
    const ran = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(hostOf(ran, lost?.task)).not.toBe(lost?.host);
    expect(ran.generations[0]?.endedBy).toMatchObject({ class: "infrastructure", task: lost?.task, host: lost?.host });
    expect(ran.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });

    await eventually("YARN to give the node up", async () => ((await stateOf(node)) === "LOST" ? true : undefined));
    expect((await job.end()).exitCode).toBe(0);
    expect(job.starts()).toEqual([...before, ...again]);
  }, 180_000);

  const cut = cluster.settings.isolate === 0 ? test.skip : test;

  cut(
    "is cut off: its task moves within seconds, nothing is done twice, and what it ran has ended when it is back",
    async () => {
      const isolated = cluster.nodes[cluster.settings.isolate - 1];
      if (isolated === undefined) throw new Error("no such node");
      const job = await suite.submitAwayFrom(isolated, { workers: 3, settings: { "tony.worker.placement": "spread" } });
      const before = await job.running(1, 3);
      const { tasks } = await job.status("generation 1", ({ state }) => state === "running");
      const away = tasks.filter(({ host }) => host !== undefined && nodeAt(host) === isolated);
      expect(away).toHaveLength(1);
      const orphan = before.find(({ task }) => task === away[0]?.task);
      const cutAtMs = Date.now();
      await suite.unplug(isolated);

      const again = await job.running(2, 3);
      const status = await job.status(
        "generation 2",
        ({ generation, state }) => generation === 2 && state === "running",
      );
      const { endedAtMs = Number.POSITIVE_INFINITY, endedBy } = status.generations[0] ?? {};
      expect(endedBy).toMatchObject({ class: "infrastructure", task: orphan?.task, host: away[0]?.host });
      // 10 s are the promise; the machine of the test may be busy.
      expect(endedAtMs - cutAtMs).toBeLessThan(30_000);
      expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
      expect(hostOf(status, orphan?.task)).not.toBe(away[0]?.host);

      await suite.plug(isolated);
      await eventually("the orphan's end", async () => (isRunning(orphan?.pid ?? 0) ? undefined : true));
      expect((await job.end()).exitCode).toBe(0);
      expect(job.starts()).toEqual([...before, ...again]);
    },
    240_000,
  );
});

function nodeAt(host = "nowhere"): ClusterNode {
  const node = cluster.nodes.find(({ nodeId }) => nodeId.startsWith(`${host}:`));
  if (node === undefined) throw new Error(`no node is at ${host}`);
  return node;
}

const hostOf = ({ tasks }: JobStatus, wanted?: string) => tasks.find(({ task }) => task === wanted)?.host;

async function stateOf({ nodeId }: ClusterNode): Promise<unknown> {
  const states = "NEW,RUNNING,UNHEALTHY,LOST";
  const { body } = await requestJson(`${cluster.endpoints.resourceManager}/ws/v1/cluster/nodes?states=${states}`);
  return at(
    listAt(body, "nodes", "node").find((node) => at(node, "id") === nodeId),
    "state",
  );
}
