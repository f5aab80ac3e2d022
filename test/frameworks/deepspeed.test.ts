import { describe, expect, test } from "@jest/globals";
import { check } from "../job/support.ts";
import { environmentOf, jobOf, processesOf } from "./support.ts";

describe("the programs of a DeepSpeed job", () => {
  const keys = { "tony.application.framework": "deepspeed", "tony.worker.processes": "2" };

  test("are told what DeepSpeed's own launcher tells them", () => {
    const spec = jobOf({ worker: 2 }, keys);
    const told = processesOf(spec, "worker:1", ["n1", "n2"]);
    expect(told).toMatchObject([
      { RANK: "2", LOCAL_RANK: "0", CROSS_RANK: "1", CROSS_SIZE: "2", LOCAL_SIZE: "2", WORLD_SIZE: "4" },
      { RANK: "3", LOCAL_RANK: "1", CROSS_RANK: "1", CROSS_SIZE: "2", LOCAL_SIZE: "2", WORLD_SIZE: "4" },
    ]);
    expect(told[1]).toMatchObject({ MASTER_ADDR: "n1", MASTER_PORT: "5000" });
  });

  test("are told nothing of it where they do not train", () => {
    const spec = jobOf({ worker: 1, monitor: 1 }, { ...keys, "tony.application.untracked.jobtypes": "monitor" });
    expect(environmentOf(spec, "monitor:0")).not.toHaveProperty("CROSS_SIZE");
  });

  test.each([
    "deepspeed",
    "exec deepspeed t.py",
    "DS_ACCELERATOR=cpu env/bin/deepspeed t.py",
    '"/opt/e/deepspeed" t.py',
  ])("are not started by %s, which would train in each container alone", (command) => {
    const { problems } = check({ ...keys, "tony.worker.instances": "2", "tony.worker.command": command });
    const message =
      "tony.worker.command starts DeepSpeed's launcher, which would train in each container alone: " +
      "write python3 and the program; tony.worker.processes says how many of it";
    expect(problems).toContainEqual(
      expect.objectContaining({ severity: "error", key: "tony.worker.command", message }),
    );
  });

  test("may be so started where nobody waits for them", () => {
    const beside = { "tony.application.untracked.jobtypes": "monitor", "tony.monitor.command": "deepspeed t.py" };
    const instances = { "tony.worker.instances": "1", "tony.monitor.instances": "1" };
    const { problems } = check({ ...keys, ...instances, ...beside, "tony.worker.command": "python3 t.py" });
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  });

  test.each(["python3 train.py --deepspeed", "deepspeed-train t.py", "python3 deepspeed t.py"])(
    "may be %s",
    (command) => {
      const { problems } = check({ ...keys, "tony.worker.instances": "2", "tony.worker.command": command });
      expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    },
  );
});
