import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

describe("a task's program", () => {
  const suite = new FaultSuite(cluster);

  test("is stopped for longer than an executor may be silent: nothing happens to the job", async () => {
    const job = await suite.submit();
    const [first] = await job.running(1);
    const pid = first?.pid ?? Number.NaN;
    process.kill(pid, "SIGSTOP");
    // That nothing happens is to be shown by time passing: an executor may be silent for 10 s.
    await sleep(12_000);
    process.kill(pid, "SIGCONT");

    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toHaveLength(2);
  });

  test("is killed: the next generation starts in the same containers, also of one that stands still and is killed after its grace; the program's budget pays", async () => {
    const job = await suite.submit({ settings: { "tony.am.retry-count": "1", "tony.task.stop-grace": "1s" } });
    const [first, second] = await job.running(1);
    process.kill(first?.pid ?? Number.NaN, "SIGSTOP");
    process.kill(second?.pid ?? Number.NaN, "SIGKILL");

    const again = await job.running(2);
    expect(again.map(({ containerId }) => containerId)).toEqual([first?.containerId, second?.containerId]);
    expect(isRunning(first?.pid ?? Number.NaN)).toBe(false);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.budgets).toMatchObject({ program: { used: 1, limit: 1 }, infrastructure: { used: 0 } });
    expect(status.generations[0]?.endedBy).toMatchObject({
      class: "program",
      task: "worker:1",
      exit: "SIGKILL",
      containerId: second?.containerId,
    });
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
  });
});
