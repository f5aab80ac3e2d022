import { describe, expect, test } from "@jest/globals";
import { check, minimalJob, saidAbout } from "../support.ts";

const FRAMEWORK = "tony.application.framework";
const MODE = "tony.application.distributed-mode";

describe("what a framework cannot run is refused before anything is submitted", () => {
  test.each([
    ["standalone", {}, FRAMEWORK, "standalone runs one task, and the job has 2 (worker × 2): generic runs any number"],
    ["dask", {}, "tony.scheduler.instances", "must be 1, not 0: it is the scheduler of Dask's workers"],
    ["ray", { "tony.head.instances": "2" }, "tony.head.instances", "must be 1, not 2: it is the head of Ray's cluster"],
    ["mxnet", {}, "tony.scheduler.instances", "must be 1, not 0"],
    ["torchrun", { [MODE]: "fcfs" }, MODE, "torchrun needs their addresses"],
    ["deepspeed", { [MODE]: "fcfs" }, MODE, "DeepSpeed needs their addresses"],
    ["deepspeed", { "tony.worker.command": "deepspeed x.py" }, "tony.worker.command", "write python3 and the program"],
    ["jax", { [MODE]: "fcfs" }, MODE, "JAX needs their addresses"],
    ["pytorch", { [MODE]: "fcfs" }, MODE, "gives PyTorch no ranks"],
    ["tensorflow", { "tony.worker.processes": "2" }, "tony.worker.processes", "is 2, and tensorflow runs one in each"],
    [
      "generic",
      { "tony.worker.command": "x {{hots}}" },
      "tony.worker.command",
      "has {{hots}}, which is not one of role,",
    ],
    ["generic", { "tony.worker.command": "x {{host}}", [MODE]: "fcfs" }, "tony.worker.command", "not known in"],
  ])("%s %j", (framework, keys, key, words) => {
    const said = saidAbout({ ...minimalJob, [FRAMEWORK]: framework, ...keys }).find((line) => line.includes(words));
    expect(said).toContain(`${key} `);
  });
});

const LEAST = "tony.worker.min-instances";
const elastic = { ...minimalJob, "tony.application.framework": "torchrun", "tony.worker.instances": "4" };

describe("a role that may be smaller", () => {
  test("is one of torchrun's, and says with how many tasks it can train", () => {
    const { spec, problems } = check({ ...elastic, [LEAST]: "2" });
    expect(problems).toEqual([]);
    expect(check({ ...elastic, [LEAST]: "4" }).problems).toEqual([]);
    expect(spec?.roles).toMatchObject([{ name: "worker", instances: 4, minInstances: 2 }]);
    expect(spec?.timeouts.gangRestMs).toBe(30_000);
  });

  test("goes on when a program of it exits by itself with Horovod, not with torchrun", () => {
    const horovod = { ...elastic, "tony.application.framework": "horovod" };
    expect(check({ ...horovod, [LEAST]: "2" }).spec?.outlivesExits).toBe(true);
    expect(check({ ...elastic, [LEAST]: "2" }).spec?.outlivesExits).toBeUndefined();
  });

  test.each([
    ["by another framework", { "tony.application.framework": "pytorch" }, "cannot assume of pytorch"],
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

const horovod = { ...minimalJob, "tony.application.framework": "Horovod" };
const DEBUG = "tony.horovod.driver.mode.debug";

describe("a driver of Horovod's that is set by hand", () => {
  test("is refused where each of its keys stands, as in TonY", () => {
    expect(saidAbout({ ...horovod, "tony.driver.instances": "1", "tony.driver.command": "python3 driver.py" })).toEqual(
      [
        "job.xml:4: tony.driver.instances sets a driver of Horovod, which has none here: the executor of rank 0 serves the rendezvous; take it out",
        "job.xml:5: tony.driver.command sets a driver of Horovod, which has none here: the executor of rank 0 serves the rendezvous; take it out",
      ],
    );
  });

  test("is left out with a warning where TonY runs it: no task waits for workers that never ask", () => {
    const debugged = {
      ...horovod,
      "tony.driver.instances": "1",
      "tony.driver.command": "python3 driver.py",
      [DEBUG]: "true",
    };
    const { spec, problems } = check(debugged);
    expect(spec?.roles.map(({ name }) => name)).toEqual(["worker"]);
    expect(problems.map(({ severity, key }) => `${severity} ${key}`)).toEqual([
      `warning ${DEBUG}`,
      "warning tony.driver.instances",
      "warning tony.driver.command",
    ]);
  });

  test("is a role as any other in jobs of other frameworks", () => {
    expect(saidAbout({ ...minimalJob, "tony.driver.instances": "1" })).toEqual([]);
  });
});
