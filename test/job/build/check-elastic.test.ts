import { describe, expect, test } from "@jest/globals";
import { check, minimalJob, saidAbout } from "../support.ts";

const LEAST = "tony.worker.min-instances";
const elastic = { ...minimalJob, "tony.application.framework": "torchrun", "tony.worker.instances": "4" };

describe("a role that may be smaller", () => {
  test("is one of torchrun's, and says with how many tasks it can train", () => {
    const { spec, problems } = check({ ...elastic, [LEAST]: "2" });
    expect(problems).toEqual([]);
    expect(spec?.roles).toMatchObject([{ name: "worker", instances: 4, minInstances: 2 }]);
    expect(spec?.timeouts.gangRestMs).toBe(30_000);
  });

  test("goes on when a program of it exits by itself with Horovod, not with torchrun", () => {
    const horovod = { ...elastic, "tony.application.framework": "horovod" };
    expect(check({ ...horovod, [LEAST]: "2" }).spec?.outlivesExits).toBe(true);
    expect(check({ ...elastic, [LEAST]: "2" }).spec?.outlivesExits).toBeUndefined();
  });

  test.each([
    ["by another framework", { "tony.application.framework": "pytorch" }, "of pytorch that is not known"],
    [
      "that starts task by task",
      { "tony.application.distributed-mode": "fcfs" },
      "take out tony.application.distributed-mode",
    ],
    ["that needs more than it has", { [LEAST]: "5" }, "is 5, and tony.worker.instances is 4"],
    ["that needs none", { [LEAST]: "0" }, "must be"],
    ["beside another role that trains", { "tony.chief.instances": "1" }, "and chief would train as well"],
    [
      "that does not train",
      { "tony.application.untracked.jobtypes": "worker", "tony.chief.instances": "1" },
      "those of worker do not",
    ],
    [
      "with a restart policy",
      { "tony.worker.restart-policy": "task" },
      "tony.worker.restart-policy = task says it as well",
    ],
  ])("is refused %s, once and where its key stands", (_, keys, words) => {
    const said = saidAbout({ ...elastic, [LEAST]: "2", ...keys }).filter((line) => line.includes(LEAST));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(words);
  });

  test("may have others beside it that do not train", () => {
    const beside = {
      "tony.evaluator.instances": "1",
      "tony.tensorboard.instances": "1",
      "tony.application.sidecar.jobtypes": "tensorboard",
    };
    expect(check({ ...elastic, [LEAST]: "1", ...beside }).problems).toEqual([]);
  });
});
