import { describe, expect, test } from "@jest/globals";
import { endOf, lastContainerOf, launchIn, lifeInGang, lifeOf } from "../../../../am/core/executors/launches.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);

/** worker:1 lives on its own, and has begun a second life. */
function renewed(): Scenario {
  const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
  scenario.toRunning();
  scenario.exits("worker:1", { exitCode: 1 });
  return scenario;
}

describe("what a container is launched for", () => {
  test("is the task that it is held for, in its generation", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    expect(launchIn(scenario.core.state, "c2")).toEqual({ containerId: "c2", task: "worker:1", generation: 1 });
  });

  test("is nothing once it goes back, or where it is none of the job's", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.after(base.timeouts.launchMs);
    expect(scenario.core.state.containers.c2?.phase).toBe("discarded");
    expect(launchIn(scenario.core.state, "c2")).toBeUndefined();
    expect(launchIn(scenario.core.state, "c99")).toBeUndefined();
  });
});

describe("the life of a task", () => {
  test("begins with its container, and ends with its program", () => {
    const scenario = new Scenario(base);
    scenario.register();
    expect(lifeOf(scenario.core.state, "worker:0")).toBeUndefined();
    scenario.allocateAll();
    const life = { task: "worker:0", generation: 1 };
    expect(lifeOf(scenario.core.state, "worker:0")).toEqual(life);
    scenario.readyAll();
    scenario.startedAll();
    expect(lifeOf(scenario.core.state, "worker:0")).toEqual(life);
    scenario.exits("worker:0");
    expect(lifeOf(scenario.core.state, "worker:0")).toBeUndefined();
    expect(lifeOf(scenario.core.state, "worker:9")).toBeUndefined();
  });

  test("has the number of its gang beside its own, and its host", () => {
    const { state } = renewed().core;
    expect(lifeInGang(state, "worker:0")).toEqual({ generation: 1, gang: 1, host: "n1" });
    expect(lifeInGang(state, "worker:1")).toEqual({ generation: 2, gang: 1, host: "n2" });
    expect(lifeInGang(state, "worker:9")).toBeUndefined();
  });

  test("is none in its gang once it has ended", () => {
    const scenario = renewed();
    scenario.exits("worker:0");
    expect(lifeInGang(scenario.core.state, "worker:0")).toBeUndefined();
  });

  test.each([
    ["succeeded", {}],
    ["failed", { exitCode: 1 }],
    ["gone", { signal: "SIGTERM", stopReason: { code: "container-terminated" } }],
  ] as const)("%s where its program ended so", (how, exit) => {
    const scenario = new Scenario(
      jobSpec([role("worker", 2)], {
        failure: { ...base.failure, onWorkerFailure: "tolerate", budgets: { program: 0, infrastructure: 0 } },
      }),
    );
    scenario.toRunning();
    scenario.exits("worker:1", exit);
    expect(endOf(scenario.core.state, "worker:1", 1)).toBe(how);
  });

  test("is gone where its task has another one by now", () => {
    const scenario = renewed();
    scenario.ready("worker:1");
    scenario.startedAll();
    scenario.exits("worker:1");
    expect(endOf(scenario.core.state, "worker:1", 2)).toBe("succeeded");
    expect(endOf(scenario.core.state, "worker:1", 1)).toBe("gone");
  });
});

test("the container where a program ended is known while it goes back, and not while its task has it", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2)], { distributedMode: "fcfs" }));
  scenario.toRunning();
  expect(lastContainerOf(scenario.core.state, "worker:0")).toBeUndefined();
  scenario.exits("worker:0");
  expect(scenario.task("worker:0").containerId).toBe("");
  expect(lastContainerOf(scenario.core.state, "worker:0")).toBe("c1");
  expect(lastContainerOf(scenario.core.state, "worker:1")).toBeUndefined();
});

describe("an executor that must register in time", () => {
  const limited = () => {
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, registrationMs: 30_000 } });
    scenario.register();
    scenario.allocateAll();
    return scenario;
  };

  test("has that from when the node has taken its launch; a job where one does not has failed", () => {
    const scenario = limited();
    scenario.after(20_000);
    scenario.on({ type: "launch-succeeded", containerId: "c2" });
    scenario.after(29_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      reason: { code: "registration-too-long", task: "worker:1", host: "n2", limitMs: 30_000 },
    });
  });

  test("has all the time of a launch where no time is set for that", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.on({ type: "launch-succeeded", containerId: "c2" });
    expect(Object.keys(scenario.core.state.containers.c2?.deadlines ?? {})).toEqual(["launch"]);
  });

  test("owes nothing where its container went back before the node took the launch, or is none of the job's", () => {
    const scenario = limited();
    scenario.on({ type: "launch-failed", containerId: "c2", message: "no room", nodeAtFault: false });
    expect(scenario.on({ type: "launch-succeeded", containerId: "c2" })).toEqual([]);
    expect(scenario.on({ type: "launch-succeeded", containerId: "c99" })).toEqual([]);
    expect(scenario.task("worker:1").phase).toBe("waiting");
  });

  test("owes nothing any more once it has", () => {
    const scenario = limited();
    for (const containerId of ["c1", "c2"]) scenario.on({ type: "launch-succeeded", containerId });
    scenario.readyAll();
    scenario.after(60_000);
    expect(scenario.core.state.outcome).toBeUndefined();
  });
});

test("a launch that failed is told, with what the node said", () => {
  const scenario = new Scenario(base);
  scenario.register();
  scenario.allocateAll();
  const effects = scenario.on({ type: "launch-failed", containerId: "c2", message: "no room", nodeAtFault: false });
  expect(effects).toContainEqual(
    expect.objectContaining({
      ...{ type: "log", event: "launch-failed", message: "worker:1 could not be launched on n2: no room" },
      fields: { task: "worker:1", container: "c2" },
    }),
  );
  expect(scenario.task("worker:1").phase).toBe("waiting");
});
