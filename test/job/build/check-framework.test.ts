import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout } from "../support.ts";

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
