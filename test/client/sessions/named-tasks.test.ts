import { describe, expect, test } from "@jest/globals";
import { taskMeant, tasksMeant, tasksMeantOf } from "../../../client/sessions/named-tasks.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";

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
});
