import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

describe("an executor", () => {
  const suite = new FaultSuite(cluster);

  test("is killed: its task gets another container, the others keep theirs, and its program is gone", async () => {
    const job = await suite.submit({ workers: 3 });
    const [first, second, third] = await job.running(1, 3);
    process.kill(await job.executor(second?.containerId), "SIGKILL");

    const again = await job.running(2, 3);
    expect([again[0]?.containerId, again[2]?.containerId]).toEqual([first?.containerId, third?.containerId]);
    expect(again[1]?.containerId).not.toBe(second?.containerId);
    expect([first, second, third].map((start) => isRunning(start?.pid ?? Number.NaN))).toEqual([false, false, false]);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
    expect(status.generations[0]?.endedBy).toMatchObject({
      class: "infrastructure",
      task: "worker:1",
      containerId: second?.containerId,
    });
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
  });

  test("is killed while a peer fails of its lost connection: the executor is the cause, the program's budget is whole", async () => {
    // worker:0 does what a program does whose peer has gone.
    const program =
      'if test "$SESSION_ID:$TASK_INDEX" = 0:0; then until test -e $OUTPUT/peer-gone; do sleep 0.05; done; ' +
      'echo "RuntimeError: Connection closed by peer" >&2; exit 1; fi; ' +
      "until test -e $OUTPUT/go; do sleep 0.1; done";
    const job = await suite.submit({ program });
    const [, second] = await job.running(1);
    const executor = await job.executor(second?.containerId);
    job.write("peer-gone");
    process.kill(executor, "SIGKILL");

    await job.running(2);
    const status = await job.status("the verdict", ({ generations }) => generations[0]?.endedBy?.task === "worker:1");
    expect(status.generations[0]?.endedBy).toMatchObject({ class: "infrastructure" });
    expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
    expect((await job.end()).exitCode).toBe(0);
  });

  test("is stopped: it is noticed by its silence, replaced, and nothing of it stays", async () => {
    const job = await suite.submit({ workers: 4 });
    const [first, second, third, fourth] = await job.running(1, 4);
    const stoppedAtMs = Date.now();
    process.kill(await job.executor(second?.containerId), "SIGSTOP");

    const again = await job.running(2, 4);
    const kept = again.filter(({ task }) => task !== "worker:1").map(({ containerId }) => containerId);
    expect(kept).toEqual([first?.containerId, third?.containerId, fourth?.containerId]);
    expect(again[1]?.containerId).not.toBe(second?.containerId);
    const status = await job.status("generation 2", ({ generation, state }) => generation === 2 && state === "running");
    const { endedAtMs = Number.POSITIVE_INFINITY, endedBy } = status.generations[0] ?? {};
    expect(endedBy).toMatchObject({ class: "infrastructure", task: "worker:1" });
    expect(endedBy?.summary).toMatch(/silent/);
    // 10 s are the promise, and seconds more for what leads to it; a minute would be that of many that are silent together.
    expect(endedAtMs - stoppedAtMs).toBeLessThan(15_000);
    expect(status.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 1 } });
    expect((await job.end()).exitCode).toBe(0);
  });
});
