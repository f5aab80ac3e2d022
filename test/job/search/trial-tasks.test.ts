import { describe, expect, test } from "@jest/globals";
import {
  isOfTrial,
  nameInTrial,
  nameWithinTrial,
  saidOfTask,
  saidWithinTrial,
  shownNameInTrial,
  spokenName,
} from "../../../src/job/search/trial-tasks.ts";
import { aJobStatus } from "../../client/job-status.ts";

const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
const shown = { allocated: 0, registered: 0, running: 0, ended: 0, memoryMiB: 1, vcores: 1, others: {} };

describe("a task of a search", () => {
  test("is called by its trial", () => {
    expect(nameInTrial({ roles: [{ name: "worker", instances: 20 }] }, "worker:17")).toBe("trial:17/worker:0");
    const roles = [
      { name: "worker", instances: 2 },
      { name: "ps", instances: 1 },
    ];
    expect(nameInTrial({ trials: 20, roles }, "worker:35")).toBe("trial:17/worker:1");
    expect(nameInTrial({ trials: 20, roles }, "ps:17")).toBe("trial:17/ps:0");
    expect(nameWithinTrial({ trials: 20, roles }, "worker:35")).toBe("worker:1");
    expect(nameWithinTrial({ roles }, "worker:35")).toBe("worker:35");
  });

  test("is so by what people are shown, where roles count the tasks of all trials", () => {
    const roles = [{ ...shown, name: "worker", instances: 40 }];
    expect(shownNameInTrial(aJobStatus({ roles, search: { ...search, trials: 20 } }), "worker:35")).toBe(
      "trial:17/worker:1",
    );
    expect(shownNameInTrial(aJobStatus({ roles, search }), "worker:35")).toBe("trial:35/worker:0");
    expect(shownNameInTrial(aJobStatus({ roles }), "worker:35")).toBeUndefined();
  });

  test("is spoken of as its trial, or as a part of it, also where a sentence begins with it", () => {
    const roles = [{ ...shown, name: "worker", instances: 40 }];
    const ofOne = aJobStatus({ roles, search });
    const ofTwo = aJobStatus({ roles, search: { ...search, trials: 20 } });
    expect(spokenName(ofOne, "worker:35")).toBe("trial:35");
    expect(spokenName(ofTwo, "worker:35")).toBe("trial:17/worker:1");
    expect(spokenName(aJobStatus({ roles }), "worker:35")).toBe("worker:35");
    expect(saidOfTask(ofOne, "worker:35 exited 1 on n1: no worker:2")).toBe("trial:35 exited 1 on n1: no worker:2");
    expect(saidOfTask(ofTwo, "worker:35 exited 1")).toBe("trial:17/worker:1 exited 1");
    expect(saidOfTask(ofOne, "worker:35's checkpoint was not stored")).toBe("trial:35's checkpoint was not stored");
    for (const other of ["node n1:8041 was lost", "worker:1", "", "KeyError: worker:1 is not there"])
      expect(saidOfTask(ofOne, other)).toBe(other);
    expect(saidOfTask(aJobStatus({ roles }), "worker:35 exited 1")).toBe("worker:35 exited 1");
    expect(saidWithinTrial(ofOne, "worker:35 exited 1 on n1")).toBe("exited 1 on n1");
    expect(saidWithinTrial(ofTwo, "worker:35 exited 1 on n1")).toBe("worker:1 exited 1 on n1");
    const executor = "the executor of worker:35 on n1 ended";
    expect(saidOfTask(ofTwo, executor)).toBe("the executor of trial:17/worker:1 on n1 ended");
    expect(saidWithinTrial(ofTwo, executor)).toBe("the executor of worker:1 on n1 ended");
    expect(saidWithinTrial(ofOne, executor)).toBe("its executor on n1 ended");
    expect(saidWithinTrial(aJobStatus({ roles }), executor)).toBe(executor);
    expect(saidWithinTrial(ofTwo, "node n1 was lost")).toBe("node n1 was lost");
  });

  test("is meant by its trial, its role there, or its whole name", () => {
    for (const name of ["trial:17", "trial:17/worker", "trial:17/worker:0"])
      expect(isOfTrial("trial:17/worker:0", name)).toBe(true);
    for (const name of ["trial:1", "trial:17/work", "trial:17/worker:1"])
      expect(isOfTrial("trial:17/worker:0", name)).toBe(false);
    expect(isOfTrial(undefined, "trial:17")).toBe(false);
  });
});
