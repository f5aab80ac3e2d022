import { describe, expect, test } from "@jest/globals";
import { hostsToLookUp } from "../../src/frameworks/task-program.ts";
import { environmentOf, jobOf, startOf } from "./support.ts";

/** Frameworks whose tasks find each other through one of them. */
describe("the task where the others meet", () => {
  test("MXNet: the scheduler, by its IP address, which ps-lite binds", () => {
    const spec = jobOf({ scheduler: 1, server: 2, worker: 3 }, { "tony.application.framework": "mxnet" });
    expect(hostsToLookUp(startOf(spec, "worker:2"))).toEqual(["n1"]);
    expect(environmentOf(spec, "worker:2", { ips: new Map([["n1", "10.0.0.1"]]) })).toMatchObject({
      DMLC_ROLE: "worker",
      DMLC_PS_ROOT_URI: "10.0.0.1",
      DMLC_PS_ROOT_PORT: "5000",
      DMLC_LOCAL: "0",
      DMLC_NUM_SERVER: "2",
      DMLC_NUM_WORKER: "3",
    });
  });

  test("MXNet: the scheduler, by its name where that has no IP address, also of a job without servers", () => {
    const spec = jobOf({ worker: 1, scheduler: 1 }, { "tony.application.framework": "mxnet" });
    expect(environmentOf(spec, "worker:0")).toMatchObject({
      DMLC_PS_ROOT_URI: "n1",
      DMLC_PS_ROOT_PORT: "5001",
      DMLC_NUM_SERVER: "0",
    });
  });

  test("Dask: the scheduler, for its workers and for the program that uses them", () => {
    const spec = jobOf({ worker: 2, scheduler: 1, main: 1 }, { "tony.application.framework": "dask" });
    for (const task of ["scheduler:0", "worker:1", "main:0"]) {
      expect(environmentOf(spec, task).DASK_SCHEDULER_ADDRESS).toBe("tcp://n1:5002");
    }
  });

  test("Ray: the head, which itself joins nobody", () => {
    const spec = jobOf({ worker: 2, head: 1 }, { "tony.application.framework": "ray" });
    expect(environmentOf(spec, "worker:0").RAY_ADDRESS).toBe("n1:5002");
    expect(environmentOf(spec, "head:0")).not.toHaveProperty("RAY_ADDRESS");
  });
});
