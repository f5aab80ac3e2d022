import { describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { type FaultJob, WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();

/** 24 GiB in three nodes: the five containers beside the ApplicationMaster's are more than the 60 % of their queue. */
const LARGE = { "tony.worker.memory": "4g" };

describe("a second queue that wants its share", () => {
  const suite = new FaultSuite(cluster);

  /** A job of the other queue that needs two containers of the first one; resolves when it has them. */
  async function claim(): Promise<FaultJob> {
    const other = await suite.submit({
      workers: 2,
      user: ClusterUser.bob,
      settings: { ...LARGE, "tony.yarn.queue": "ml" },
    });
    await other.running(1, 2);
    return other;
  }

  test("takes containers: their programs are told before, no program budget is spent, the others keep theirs", async () => {
    const saves = `trap 'touch $OUTPUT/told-$TASK_INDEX' USR1; ${WAITS}`;
    const settings = { ...LARGE, "tony.task.preemption-signal": "SIGUSR1" };
    const job = await suite.submit({ workers: 5, program: saves, settings });
    const before = await job.running(1, 5);
    const other = await claim();

    const waiting = await job.status("the loss", ({ generations }) => generations[0]?.endedBy?.exit === "-102");
    expect(waiting.generations[0]?.endedBy).toMatchObject({ class: "infrastructure" });
    expect(waiting.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 0 } });
    expect((await other.end()).exitCode).toBe(0);

    const again = await job.running(2, 5);
    const moved = again.filter(({ containerId }) => !before.some((start) => start.containerId === containerId));
    expect([2, 3]).toContain(moved.length);
    expect(moved.map(({ task }) => job.wrote(`told-${task.replace("worker:", "")}`))).not.toContain(false);
    expect((await job.end()).exitCode).toBe(0);
  });

  test("takes containers whose programs end at the notice: that is no failure of theirs", async () => {
    const job = await suite.submit({ workers: 5, settings: LARGE });
    await job.running(1, 5);
    const other = await claim();
    const waiting = await job.status("the loss", ({ generation }) => generation > 1);
    expect(waiting.generations[0]?.endedBy).toMatchObject({ class: "infrastructure" });
    expect(waiting.generations[0]?.endedBy?.summary).toContain("preemption");
    expect(waiting.budgets).toMatchObject({ program: { used: 0 }, infrastructure: { used: 0 } });
    expect((await other.end()).exitCode).toBe(0);
    expect((await job.end()).exitCode).toBe(0);
  });
});
