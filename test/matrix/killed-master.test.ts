import { describe, expect, test } from "@jest/globals";
import type { JobStatus } from "../../src/job/status.ts";
import { testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

/** Of the folder's jobs the one that `npm test` runs too: test/e2e has the others' like. */
describe("on this cluster", () => {
  const suite = new FaultSuite(cluster);

  test("a killed ApplicationMaster", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await job.journaled();
    process.kill(await job.master(), "SIGKILL");

    const again = ({ attempt, state }: JobStatus) => attempt === 2 && state === "running";
    const { generation, tasks, budgets } = await job.status("the second attempt", again);
    expect(generation).toBe(1);
    expect(tasks.map(({ containerId }) => containerId)).toEqual(before.map(({ containerId }) => containerId));
    expect(budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 0 } });
    expect(before.map(({ pid }) => isRunning(pid))).toEqual([true, true]);
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual(before);
  });
});
