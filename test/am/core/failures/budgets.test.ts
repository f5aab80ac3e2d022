import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import { waitsOf } from "../../../../am/core/status/waits.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

/** One worker, which may fail often. */
function running(backOff: JobSpec["failure"]["backOff"]): Scenario {
  const { failure } = jobSpec([]);
  const budgets = { program: 9, infrastructure: 9 };
  const scenario = new Scenario(jobSpec([role("worker", 1)], { failure: { ...failure, budgets, backOff } }));
  scenario.toRunning();
  return scenario;
}

test("the pause before a restart doubles from the second restart on, up to the longest one", () => {
  const scenario = running({ initialMs: 1_000, maxMs: 3_000 });
  const pauses = Array.from({ length: 5 }, () => {
    scenario.exits("worker:0", { exitCode: 1 });
    const pauseMs = Math.max(0, scenario.gang.startNotBeforeMs - scenario.nowMs);
    scenario.readyAll();
    scenario.after(3_000);
    scenario.startedAll();
    return pauseMs;
  });
  expect(pauses).toEqual([0, 1_000, 2_000, 3_000, 3_000]);
});

test("during the pause before a restart the status shows no other wait, and the start after it says how many restarts there were", () => {
  const scenario = running({ initialMs: 60_000, maxMs: 60_000 });
  scenario.exits("worker:0", { exitCode: 1 });
  scenario.readyAll();
  scenario.startedAll();
  scenario.exits("worker:0", { exitCode: 1 });
  scenario.readyAll();
  scenario.after(scenario.core.spec.timeouts.verdictMs);
  expect(waitsOf(scenario.core, scenario.nowMs).map(({ what }) => what)).toEqual(["the pause before the restart"]);
  const start = scenario
    .after(60_000)
    .flatMap((effect) => (effect.type === "send" && effect.message.type === "start-child" ? [effect.message] : []));
  expect(start).toMatchObject([{ restarts: 2, restartReason: expect.stringContaining("worker:0 exited 1") }]);
});

describe("a failure of the infrastructure", () => {
  const { failure } = jobSpec([]);
  const spec = jobSpec([role("worker", 1)], {
    failure: { ...failure, budgets: { program: 0, infrastructure: 1 }, blame: { container: 1, node: 9, job: 9 } },
  });

  /** Its node is lost; YARN gives another one. */
  function losesNode(scenario: Scenario): void {
    scenario.completes(scenario.task("worker:0").containerId, -100);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
  }

  test("is paid back when the container turns out to have been taken back, even the last one: the earlier one counts no longer", () => {
    const { failure: ofJob } = spec;
    const scenario = new Scenario({ ...spec, failure: { ...ofJob, budgets: { program: 0, infrastructure: 2 } } });
    scenario.toRunning();
    losesNode(scenario);
    scenario.after(3_000_000);
    const { containerId } = scenario.task("worker:0");
    scenario.breaks("worker:0");
    scenario.after(5_000);
    expect(scenario.used.infrastructure).toBe(2);
    scenario.completes(containerId, -102);
    expect(scenario.used.infrastructure).toBe(1);
    scenario.after(700_000);
    expect(scenario.used.infrastructure).toBe(0);
  });

  test("counts for an hour, because a job that runs for weeks loses a node now and then", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    for (let week = 1; week <= 5; week++) {
      losesNode(scenario);
      expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
      scenario.after(3_600_000);
      expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    }
    expect(scenario.job).toMatchObject({ phase: "running", generation: 6 });
  });

  test("ends the job when as many of them came within the hour as the budget has, and the job says so", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    losesNode(scenario);
    scenario.after(3_599_000);
    losesNode(scenario);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      rule: "infrastructure restarts: 1 of 1 used within 1 h (tony.failure.infrastructure-retries = 1)",
    });
  });
});

describe("a role with a count of its own", () => {
  const { failure } = jobSpec([]);
  const own = { tracking: "tracked", restartPolicy: "task" } as const;

  /** Role a may start again once, role b twice; what the job has is for role c alone. */
  function running(): Scenario {
    const roles = [role("a", 1, { ...own, retryCount: 1 }), role("b", 1, { ...own, retryCount: 2 }), role("c", 1, own)];
    const scenario = new Scenario(
      jobSpec(roles, { failure: { ...failure, budgets: { program: 1, infrastructure: 1 } } }),
    );
    scenario.toRunning();
    return scenario;
  }

  function fails(scenario: Scenario, task: string): void {
    scenario.exits(task, { exitCode: 1 });
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(scenario.core.spec.timeouts.verdictMs);
  }

  test("pays for its own failures, and for no other role's", () => {
    const scenario = running();
    for (const task of ["a:0", "b:0", "b:0", "c:0"]) fails(scenario, task);
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(statusOf(scenario.core, scenario.nowMs).budgets).toEqual({
      program: { used: 1, limit: 1 },
      infrastructure: { used: 0, limit: 1, windowMs: 3_600_000 },
      roles: [
        { role: "a", used: 1, limit: 1 },
        { role: "b", used: 2, limit: 2 },
      ],
    });
  });

  test("ends the job when it has none left, and the job says whose they were", () => {
    const scenario = running();
    for (const task of ["a:0", "a:0"]) fails(scenario, task);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      rule: "program restarts of a: 1 of 1 used (tony.a.retry-count = 1)",
    });
  });

  test("leaves the loss of a node to the job's count", () => {
    const scenario = running();
    scenario.completes(scenario.task("a:0").containerId, -100);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });
});
