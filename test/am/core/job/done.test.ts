import { describe, expect, test } from "@jest/globals";
import type { RoleSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

describe("where failures are tolerated,", () => {
  const { failure } = jobSpec([]);
  function running(chief: "first" | "none"): Scenario {
    const scenario = new Scenario(
      jobSpec([role("worker", 2, { chief })], {
        failure: { ...failure, onWorkerFailure: "tolerate", budgets: { program: 0, infrastructure: 0 } },
      }),
    );
    scenario.toRunning();
    return scenario;
  }

  test("a job whose tasks all failed has failed", () => {
    const scenario = running("none");
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.exits("worker:1", { exitCode: 1 });
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", summary: "0 of 2 tasks exited 0" });
  });

  test("a task that lost its container counts as ended, too", () => {
    const scenario = running("first");
    scenario.completes("c2", -101);
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "1 of 2 tasks exited 0" });
  });

  test.each<[string, Partial<RoleSpec>, string | undefined]>([
    ["no chief", { chief: "none" }, undefined],
    ["the first chief", { chief: "first" }, "failed"],
    ["one of the chiefs", { chief: "all" }, "failed"],
    [
      "one that nobody waits for, but whose failure ends the job",
      { tracking: "untracked", stopOnFailure: true },
      "failed",
    ],
    ["one whose failure is never tolerated", { chief: "none", stopOnFailure: true }, "failed"],
    ["a sidecar", { tracking: "sidecar", chief: "none" }, undefined],
  ])("the failure of %s decides as it should", (_, change, result) => {
    const scenario = new Scenario(
      jobSpec([role("trainer", 2, change), role("worker", 2, { chief: "none" })], {
        failure: { ...failure, onWorkerFailure: "tolerate", budgets: { program: 0, infrastructure: 0 } },
      }),
    );
    scenario.toRunning();
    scenario.exits("trainer:0", { exitCode: 1 });
    for (const { id, phase } of scenario.core.state.tasks) if (phase === "stopping") scenario.stops(id);
    expect(scenario.core.state.outcome?.result).toBe(result);
  });

  test("only the first task of a role whose first task is the chief must end well", () => {
    const scenario = running("first");
    scenario.exits("worker:1", { exitCode: 1 });
    expect(scenario.core.state.outcome).toBeUndefined();
  });

  test("a task whose node told it to end counts as ended, too", () => {
    const scenario = running("first");
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "container-terminated" } });
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "1 of 2 tasks exited 0" });
  });
});

test("tasks that need not end well are not counted among the tasks that did", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { tracking: "untracked" })]));
  scenario.toRunning();
  scenario.exits("worker:0");
  expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "1 of 1 tracked task exited 0" });
});

test("an evaluator has its whole grace again where a restart makes the main tasks run again", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("evaluator", 1)]));
  scenario.toRunning();
  scenario.exits("worker:0");
  scenario.after(10_000);
  scenario.vanishes("evaluator:0");
  scenario.allocateAll();
  scenario.readyAll();
  scenario.startedAll();
  scenario.after(60_000);
  expect(scenario.phases()).toBe("worker:0 running, evaluator:0 running");
  scenario.exits("worker:0");
  scenario.after(19_999);
  expect(scenario.core.state.outcome).toBeUndefined();
  scenario.after(1);
  expect(scenario.core.state.outcome?.result).toBe("succeeded");
});

describe("when the chief is done", () => {
  const roles = [role("chief", 1), role("worker", 2, { chief: "none" })];

  test("a worker that fails because of that ends nothing and restarts nothing", () => {
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    scenario.exits("chief:0");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true, errorSummary: "Connection closed by peer" });
    expect(scenario.job).toMatchObject({ generation: 1, phase: "running" });
    expect(scenario.used).toMatchObject({ program: 0 });
    scenario.exits("worker:1");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "2 of 3 tasks exited 0" });
  });

  test("a worker whose failure is heard before the chief's end does not either", () => {
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.exits("chief:0");
    scenario.stops("worker:1");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "1 of 3 tasks exited 0" });
  });

  test("a worker whose container is being replaced then does not either", () => {
    const scenario = new Scenario(jobSpec([role("chief", 1), role("worker", 1, { chief: "none" })]));
    scenario.toRunning();
    scenario.completes("c2", -100, "Container released on a *lost* node");
    scenario.exits("chief:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded" });
  });

  test("a worker whose node is lost does not either", () => {
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    scenario.exits("chief:0");
    scenario.completes("c2", -100, "Container released on a *lost* node");
    scenario.exits("worker:1", { exitCode: 1 });
    expect(scenario.job).toMatchObject({ generation: 1, outcome: { result: "succeeded" } });
  });

  test.each([
    ["of its role", [role("chief", 2)]],
    ["of another role", [role("chief", 1), role("master", 1, { chief: "all" })]],
  ])("a worker's failure still counts as long as another chief %s runs", (_, chiefs) => {
    const scenario = new Scenario(jobSpec([...chiefs, role("worker", 1, { chief: "none" })]));
    scenario.toRunning();
    scenario.exits("chief:0");
    scenario.exits("worker:0", { exitCode: 1 });
    expect(scenario.job.phase).toBe("restarting");
    expect(scenario.used).toMatchObject({ program: 1 });
  });
});

test("an evaluator has as long as it likes while another role than the evaluators runs, or where there is no other", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("trainer", 1), role("evaluator", 1)]));
  scenario.toRunning();
  scenario.exits("worker:0");
  scenario.after(600_000);
  expect(scenario.phases()).toBe("worker:0 succeeded, trainer:0 running, evaluator:0 running");
  const alone = new Scenario(jobSpec([role("evaluator", 1)]));
  alone.toRunning();
  alone.after(600_000);
  expect(alone.phases()).toBe("evaluator:0 running");
});
