import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();

describe("two faults at once", () => {
  const suite = new FaultSuite(cluster);

  test("the ApplicationMaster and an executor: the next attempt replaces the one container and keeps the others", async () => {
    const job = await suite.submit({ workers: 3 });
    const [first, second, third] = await job.running(1, 3);
    await job.journaled();
    const [master, executor] = await Promise.all([job.master(), job.executor(second?.containerId)]);
    process.kill(master, "SIGKILL");
    process.kill(executor, "SIGKILL");

    const again = await job.running(2, 3);
    expect([again[0]?.containerId, again[2]?.containerId]).toEqual([first?.containerId, third?.containerId]);
    expect(again[1]?.containerId).not.toBe(second?.containerId);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.attempt).toBe(2);
    expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
    expect(status.generations[0]?.endedBy).toMatchObject({ class: "infrastructure", task: "worker:1" });
    expect((await job.end()).exitCode).toBe(0);
  });

  test("two executors: one restart, one failure counted, the third keeps its container", async () => {
    const job = await suite.submit({ workers: 3 });
    const [first, second, third] = await job.running(1, 3);
    const executors = await Promise.all([second, third].map((start) => job.executor(start?.containerId)));
    for (const pid of executors) process.kill(pid, "SIGKILL");

    const again = await job.running(2, 3);
    expect(again[0]?.containerId).toBe(first?.containerId);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
  });
});
