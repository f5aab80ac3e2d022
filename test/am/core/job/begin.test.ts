import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario, typesOf } from "../scenario.ts";

const spec = jobSpec([role("worker", 2)]);

describe("a job begins", () => {
  test("when its first attempt is registered, which is told and is the first line of its history", () => {
    const scenario = new Scenario(spec);
    const effects = scenario.register();
    expect(effects[0]).toEqual({
      ...{ type: "log", level: "info", event: "am-registered" },
      message: "Attempt 1 of the ApplicationMaster on n0 is registered.",
      fields: { attempt: 1 },
    });
    const recorded = effects.flatMap((effect) => (effect.type === "record" ? [effect.event] : []));
    expect(recorded[0]).toMatchObject({ type: "job-started", name: "simulated", tasks: 2 });
  });

  test("once: an attempt that registers again, with a ResourceManager that has restarted, begins nothing", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const effects = scenario.register();
    expect(typesOf(effects)).not.toContain("record");
    expect(asksOf(effects)).toEqual([]);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("where it asks for none of a resource type that the cluster does not know", () => {
    const resource = { memoryMiB: 1024, vcores: 1, others: { "yarn.io/gpu": 0 } };
    const scenario = new Scenario(jobSpec([role("worker", 2, { resource })]));
    expect(asksOf(scenario.register())).toMatchObject([{ role: "worker", count: 2 }]);
  });

  test("where the cluster knows each of the resource types that it asks for, and otherwise fails and asks for nothing", () => {
    const resource = { memoryMiB: 1024, vcores: 1, others: { "yarn.io/gpu": 1, "yarn.io/fpga": 1 } };
    const job = jobSpec([role("ps", 1), role("worker", 2, { resource })]);
    const asksWith = (...resourceTypes: string[]) => asksOf(new Scenario(job).register({ resourceTypes }));
    expect(asksWith("yarn.io/gpu", "yarn.io/fpga")).toHaveLength(2);
    expect(asksWith("yarn.io/gpu")).toEqual([]);
  });
});

describe("the limit on the time until all tasks have registered", () => {
  const limited = { ...spec, timeouts: { ...spec.timeouts, allocationMs: 60_000 } };

  test("fails the job when it is over, and not before", () => {
    const scenario = new Scenario(limited);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(59_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome?.summary).toMatch(
      /^1 of 2 tasks not registered within 1 min: .*; it still waited for 1 of 2 containers of worker: 1 GiB, 1 core$/,
    );
  });

  test("counts for a stage from when its turn comes", () => {
    const roles = [role("prep", 1), role("worker", 3, { dependsOn: ["prep"] })];
    const scenario = new Scenario({ ...limited, roles });
    scenario.toRunning();
    scenario.after(300_000);
    scenario.exits("prep:0");
    scenario.after(59_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome?.summary).toMatch(/^3 of 3 tasks not registered within 1 min/);
  });

  test("is none on a restart: the gang had all its containers once", () => {
    const scenario = new Scenario(limited);
    scenario.toRunning();
    scenario.completes("c2", -100);
    scenario.stops("worker:0");
    scenario.after(120_000);
    expect(scenario.job).toMatchObject({ phase: "gathering", outcome: undefined });
  });
});
