import { describe, expect, test } from "@jest/globals";
import { onlyTaskOf, taskMeant, tasksMeant, tasksMeantOf } from "../../../client/sessions/named-tasks.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

const role = { allocated: 0, registered: 0, running: 0, ended: 0, memoryMiB: 1, vcores: 1, others: {} };

/** Two trials of two workers and a parameter server. */
const status = aJobStatus({
  roles: [
    { ...role, name: "worker", instances: 4 },
    { ...role, name: "ps", instances: 2 },
  ],
  tasks: ["worker:0", "worker:1", "worker:2", "worker:3", "ps:0", "ps:1"].map(
    (task): TaskStatus => ({ task, state: "running", restarts: 0 }),
  ),
  search: { metric: "loss", direction: "minimize", parameters: [], command: "", trials: 2 },
});

const master = {
  async *follow() {
    yield { type: "status", status } as const;
  },
};

describe("a task of a search", () => {
  test("may be named by its trial", () => {
    expect(taskMeant(status, "trial:1/worker:1")).toBe("worker:3");
    expect(taskMeant(status, "trial:0/ps")).toBe("ps:0");
    expect(taskMeant(status, "worker:2")).toBe("worker:2");
  });

  test("is not there where its trial is not", () => {
    expect(taskMeant(status, "trial:2")).toBeUndefined();
    expect(
      taskMeant(aJobStatus({ tasks: [{ task: "worker:0", state: "running", restarts: 0 }] }), "trial:0"),
    ).toBeUndefined();
  });

  test("is one of several, which are named where one is wanted", () => {
    expect(tasksMeant(status, "trial:1")).toEqual(["worker:2", "worker:3", "ps:1"]);
    expect(() => taskMeant(status, "trial:1")).toThrow(
      "trial:1 has several tasks (trial:1/worker:0, trial:1/worker:1, trial:1/ps:0): name one of them",
    );
  });
});

describe("of a job that runs", () => {
  test("its ApplicationMaster is asked which tasks a trial has", async () => {
    expect(await tasksMeantOf(master, "trial:0")).toEqual(["worker:0", "worker:1", "ps:0"]);
    await expect(tasksMeantOf(master, "trial:7")).rejects.toMatchObject({
      message: "The job has no trial:7",
      code: "NO_SUCH_TASK",
      exitCode: 2,
    });
  });

  test("any other name is for its ApplicationMaster to know", async () => {
    expect(await tasksMeantOf(master, "worker:9")).toEqual(["worker:9"]);
  });

  test("a trial is not there either where the job has just ended", async () => {
    const over = {
      async *follow() {
        yield { type: "outcome", outcome: { ...allSucceeded, endedAtMs: 1 } } as const;
      },
    };
    await expect(tasksMeantOf(over, "trial:0")).rejects.toMatchObject({ code: "NO_SUCH_TASK" });
  });

  test("the connection stays open for the one task that is meant, and is closed where that cannot be", async () => {
    let closed = 0;
    const close = () => {
      closed += 1;
    };
    const connected = { ...master, close };
    expect(await onlyTaskOf(connected, "trial:1/ps")).toEqual({ master: connected, task: "ps:1" });
    expect((await onlyTaskOf(connected, "worker:9")).task).toBe("worker:9");
    expect(closed).toBe(0);
    await expect(onlyTaskOf(connected, "trial:1")).rejects.toMatchObject({
      message: "trial:1 has several tasks (trial:1/worker:0, trial:1/worker:1, trial:1/ps:0): name one of them",
      code: "NO_SUCH_TASK",
      exitCode: 2,
    });
    await expect(onlyTaskOf(connected, "trial:7")).rejects.toThrow("The job has no trial:7");
    expect(closed).toBe(2);
  });
});
