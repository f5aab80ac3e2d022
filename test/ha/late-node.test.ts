import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Failover } from "../support/failover.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

describe("a NodeManager comes late to the ResourceManager that took over", () => {
  const suite = new FaultSuite(cluster);
  const failover = new Failover(cluster, suite);

  test("after a later attempt of the ApplicationMaster has begun: that one goes on with its containers, of which YARN tells it late", async () => {
    const job = await suite.submit({ settings: { "tony.worker.placement": "spread" } });
    const before = await job.running(1);
    await job.journaled();
    const master = await job.master();
    const late = cluster.nodes.find(({ name }) => name !== job.nodeOfMaster())?.name ?? "";
    const end = await failover.of("ResourceManager", "relieved");
    const relieved = await failover.active("ResourceManager");
    await suite.stop(late);
    end();
    await failover.active("ResourceManager", { otherThan: relieved });
    process.kill(master, "SIGKILL");
    await job.master({ otherThan: master });
    await job.status(
      "both programs",
      ({ attempt, tasks }) => attempt === 2 && tasks.every(({ state }) => state === "running"),
    );
    await suite.continue(late);
    await eventually("word of its containers", () => job.masterLog(2).includes('"event":"containers-late"'));
    expect(before.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual(before);
  });
});
