import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { environmentOf, jobOf } from "./support.ts";

const pytorch = { "tony.application.framework": "pytorch" };

describe("PyTorch", () => {
  test("the exact words of a job of two machines", () => {
    const spec = jobOf({ worker: 4 }, pytorch);
    const environment = environmentOf(spec, "worker:2", { hosts: ["n1", "n2"] });
    expect(environment).toMatchObject({
      INIT_METHOD: "tcp://n1:5000",
      RANK: "2",
      WORLD: "4",
      WORLD_SIZE: "4",
      MASTER_ADDR: "n1",
      MASTER_PORT: "5000",
      LOCAL_RANK: "1",
      LOCAL_WORLD_SIZE: "2",
      GROUP_RANK: "0",
    });
    expect(environment).not.toHaveProperty("TF_CONFIG");
  });

  test("the chief has rank 0 wherever the job lists it, and ranks run on over roles", () => {
    const spec = jobOf({ helper: 1, worker: 2, chief: 1 }, pytorch);
    const ranks = ["chief:0", "worker:0", "worker:1", "helper:0"].map((task) => environmentOf(spec, task).RANK);
    expect(ranks).toEqual(["0", "1", "2", "3"]);
    expect(environmentOf(spec, "worker:0")).toMatchObject({ MASTER_PORT: "5003", WORLD_SIZE: "4" });
  });

  test("who does not train has no rank and is not counted", () => {
    const spec = jobOf({ worker: 2, ps: 1, evaluator: 1 }, pytorch);
    expect(environmentOf(spec, "worker:1").WORLD_SIZE).toBe("2");
    for (const task of ["ps:0", "evaluator:0"]) {
      expect(environmentOf(spec, task)).not.toHaveProperty("RANK");
      expect(environmentOf(spec, task)).not.toHaveProperty("MASTER_ADDR");
    }
  });

  test.each([
    ["yarn.io/gpu", { "tony.worker.gpus": "1" }],
    ["the site's", { "tony.worker.gpus": "1", "tony.gpu-resource-types": "acme.com/a100" }],
    ["named by the job", { "tony.worker.resource.nvidia.com/mig-1g.5gb": "1" }],
  ])("a container with GPUs (%s) is a machine of its own: YARN numbers its devices from 0", (_which, asked) => {
    const spec = jobOf({ worker: 2 }, { ...pytorch, ...asked });
    expect(environmentOf(spec, "worker:1", { hosts: ["n1"] })).toMatchObject({
      RANK: "1",
      LOCAL_RANK: "0",
      LOCAL_WORLD_SIZE: "1",
      GROUP_RANK: "1",
    });
  });

  test("ranks and local ranks are unique and complete, whatever the roles and the machines", () => {
    const anyJob = fc.record({
      chief: fc.nat(1),
      worker: fc.integer({ min: 1, max: 5 }),
      helper: fc.nat(3),
      hosts: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(anyJob, ({ hosts: count, ...roles }) => {
        const spec = jobOf(roles, pytorch);
        const hosts = Array.from({ length: count }, (_, index) => `n${index}`);
        const tasks = spec.roles.flatMap(({ name, instances }) =>
          Array.from({ length: instances }, (_, index) => `${name}:${index}`),
        );
        const environments = tasks.map((task) => environmentOf(spec, task, { hosts }));
        const ranks = environments.map(({ RANK }) => Number(RANK)).sort((a, b) => a - b);
        expect(ranks).toEqual(tasks.map((_, index) => index));
        const places = environments.map(({ GROUP_RANK, LOCAL_RANK }) => `${GROUP_RANK}/${LOCAL_RANK}`);
        expect(new Set(places).size).toBe(tasks.length);
        for (const { LOCAL_RANK, LOCAL_WORLD_SIZE } of environments) {
          expect(Number(LOCAL_RANK)).toBeLessThan(Number(LOCAL_WORLD_SIZE));
        }
      }),
    );
  });
});
