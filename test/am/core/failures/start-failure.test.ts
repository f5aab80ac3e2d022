import { describe, expect, test } from "@jest/globals";
import type { ChildExit } from "../../../../am/core/state/events.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const missing = { exitCode: 1, errorSummary: "ModuleNotFoundError: No module named 'torch'" };
const base = jobSpec([role("worker", 3)]);
const spec = { ...base, failure: { ...base.failure, budgets: { program: 5, infrastructure: 5 } } };

/** A job whose first generation failed so, and whose second one runs. */
function secondStart(exit: Partial<ChildExit> = missing): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  fails(scenario, exit);
  scenario.startedAll();
  return scenario;
}

/** One worker ends so, the others are stopped; where another generation follows, all get ready for it. */
function fails(scenario: Scenario, exit: Partial<ChildExit>): void {
  scenario.exits("worker:1", exit);
  scenario.stops("worker:0");
  scenario.stops("worker:2");
  scenario.readyAll();
  scenario.after(1_000);
}

describe("a failure at the start that the next start has again", () => {
  test("is not restarted a third time, and the job says why", () => {
    const scenario = secondStart();
    expect(scenario.job).toMatchObject({ generation: 2, phase: "running" });
    expect(scenario.used).toMatchObject({ program: 1 });
    fails(scenario, missing);
    expect(scenario.job).toMatchObject({
      outcome: {
        result: "failed",
        rule: "generations 1 and 2 failed the same way at start, so no further restart is tried",
        cause: { task: "worker:1", summary: "worker:1 exited 1 on n2: ModuleNotFoundError: No module named 'torch'" },
      },
    });
    expect(scenario.used).toMatchObject({ program: 1 });
  });

  test("may strike one task at first and another one then", () => {
    const scenario = secondStart();
    scenario.exits("worker:0", missing);
    scenario.exits("worker:2", missing);
    scenario.stops("worker:1");
    expect(scenario.core.state.outcome?.rule).toMatch(/^generations 1 and 2 failed the same way/);
  });

  test("ends the job even after a recovery between the two starts", () => {
    const scenario = secondStart();
    const kept = scenario.core.state.tasks.map(({ containerId }) => scenario.container(1, { containerId }));
    scenario.crash(kept);
    for (const { id } of scenario.core.state.tasks) {
      scenario.reports(id, { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    }
    fails(scenario, missing);
    expect(scenario.core.state.outcome?.rule).toMatch(/^generations 1 and 2 failed the same way/);
  });

  test("is known as the same although another program had only lost its connection by then", () => {
    const scenario = secondStart();
    scenario.exits("worker:1", missing);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.stops("worker:2");
    expect(scenario.core.state.outcome?.rule).toMatch(/^generations 1 and 2 failed the same way/);
  });

  test.each<[string, Partial<ChildExit>]>([
    [
      "a command that is not there",
      { failedToStart: true, lastLines: ["/bin/bash: line 1: pyhton: command not found"] },
    ],
    ["a script that is not there", { exitCode: 2, lastLines: ["python3: can't open file '/c_2/x.py': [Errno 2] …"] }],
    ["a script that cannot be read", { exitCode: 1, errorSummary: "SyntaxError: invalid syntax" }],
  ])("may be %s", (_what, exit) => {
    const scenario = secondStart(exit);
    fails(scenario, exit);
    expect(scenario.core.state.outcome?.result).toBe("failed");
  });
});

describe("a restart follows", () => {
  const goesOn = (scenario: Scenario) => expect(scenario.job).toMatchObject({ generation: 3, outcome: undefined });

  test.each<[string, Partial<ChildExit>]>([
    ["of another kind", { exitCode: 1, errorSummary: "ValueError: bad" }],
    ["of another module", { ...missing, errorSummary: "ModuleNotFoundError: No module named 'numpy'" }],
    ["that followed from a peer's", { exitCode: 1, peerConnectionLost: true }],
  ])("after a second failure %s", (_what, exit) => {
    const scenario = secondStart();
    fails(scenario, exit);
    goesOn(scenario);
  });

  test.each<[string, Partial<ChildExit>]>([
    ["a program", { exitCode: 1, errorSummary: "OSError: [Errno 98] Address already in use" }],
    ["the system", { exitCode: 1, failedToStart: true, refusedBySystem: true, errorSummary: "spawn ENOMEM" }],
  ])("after the same failure of %s that may not come again next time", (_whose, exit) => {
    const scenario = secondStart(exit);
    fails(scenario, exit);
    goesOn(scenario);
  });

  test("after a failure when a step was done", () => {
    const scenario = secondStart();
    const { containerId, generation } = scenario.task("worker:0");
    scenario.on({
      type: "child-progress",
      task: "worker:0",
      containerId,
      generation,
      step: 1,
      atMs: scenario.nowMs,
    });
    fails(scenario, missing);
    goesOn(scenario);
  });

  test("after a failure long after the start", () => {
    const scenario = secondStart();
    scenario.after(61_000);
    fails(scenario, missing);
    goesOn(scenario);
  });

  test("where another task failed of something else at the same time", () => {
    const scenario = secondStart();
    scenario.exits("worker:1", missing);
    scenario.exits("worker:0", { exitCode: 1, errorSummary: "ValueError: bad" });
    scenario.stops("worker:2");
    scenario.readyAll();
    goesOn(scenario);
  });
});
