import { describe, expect, test } from "@jest/globals";
import type { FailureClass } from "../../../../src/job/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { Scenario } from "../scenario.ts";

const lost = { exitCode: 1, peerConnectionLost: true, errorSummary: "RuntimeError: Connection closed by peer" };
const SUSPENDED_MS = 45_000;

/** Three workers that run, with so many restarts to spend; a node may be silent for long before it counts as lost. */
function running(budgets: Record<FailureClass, number> = { program: 1, infrastructure: 2 }): Scenario {
  const spec = jobSpec([role("worker", 3)]);
  const scenario = new Scenario({ ...spec, failure: { ...spec.failure, budgets } });
  scenario.toRunning();
  scenario.after(100_000);
  return scenario;
}

/** The task's executor was cut off with its node, and is back: its program was suspended and has not ended. */
function comesBack(scenario: Scenario, task: string): void {
  const { startedAtMs } = scenario.task(task);
  scenario.reports(task, { state: "running", pid: 7, startedAtMs, suspendedMs: SUSPENDED_MS });
}

const cutOff = {
  class: "infrastructure",
  task: "worker:1",
  host: "n2",
  summary: "worker:1 was suspended for 45 s, while its node n2 was cut off",
};

describe("a program loses its peer, whose node was cut off and came back", () => {
  test("the node is the cause, the infrastructure's budget pays, and no machine is blamed", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.after(2_000);
    scenario.exits("worker:0", lost);
    scenario.stops("worker:1");
    scenario.stops("worker:2");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
      ...cutOff,
      consequences: [
        "worker:0 exited 1 on n1: RuntimeError: Connection closed by peer, 77.0 s later (a consequence, not counted)",
      ],
    });
    expect(scenario.core.state.blame.n2?.failures ?? 0).toBe(0);
  });

  test("the same holds when the suspended program itself reports that it lost its peers", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.exits("worker:1", { ...lost, lastLines: ["step 12"] });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ ...cutOff, exit: "1", lines: ["step 12"] });
  });

  test("the same holds when the suspended one is heard again after another has failed of it, and then reports that it lost its peers", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.exits("worker:0", lost);
    scenario.after(100);
    comesBack(scenario, "worker:1");
    scenario.exits("worker:1", lost);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject(cutOff);
  });

  test("the same holds when it was resumed and ended before its executor was heard again", () => {
    const scenario = running();
    scenario.breaks("worker:1");
    scenario.reports("worker:1", { state: "exited", exit: childExit(scenario.nowMs, lost), suspendedMs: SUSPENDED_MS });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });

  test("the charge to the program is paid back when the executor is heard only after the failure", () => {
    const scenario = running();
    scenario.exits("worker:0", lost);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    comesBack(scenario, "worker:1");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject(cutOff);
  });

  test("a job without a restart left for its program goes on when the executor is heard before the verdict", () => {
    const scenario = running({ program: 0, infrastructure: 2 });
    scenario.exits("worker:0", lost);
    scenario.stops("worker:2");
    expect(scenario.job.phase).toBe("restarting");
    comesBack(scenario, "worker:1");
    scenario.stops("worker:1");
    scenario.readyAll();
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2, outcome: undefined });
  });

  test("the next attempt of the ApplicationMaster knows that, too", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.crash([]);
    scenario.reports("worker:0", { state: "exited", exit: childExit(scenario.nowMs, lost) });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });
});

describe("a node that was cut off and came back is not the cause", () => {
  test.each([
    ["of a failure of a program's own, which comes later", "worker:2"],
    ["of a failure of the very program that was suspended", "worker:1"],
  ])("%s", (_what, task) => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.exits("worker:0", lost);
    scenario.exits(task, { exitCode: 1, errorSummary: "ValueError: bad" });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task, class: "program" });
  });

  test("where a machine is lost", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.exits("worker:0", lost);
    scenario.completes("c3", -100);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:2", class: "infrastructure" });
  });

  test("of a failure when it has long been back", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.after(31_000);
    scenario.exits("worker:0", lost);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("of a failure in the next generation", () => {
    const scenario = running();
    comesBack(scenario, "worker:1");
    scenario.exits("worker:0", lost);
    scenario.stops("worker:1");
    scenario.stops("worker:2");
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0", lost);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 1 });
  });
});

test("a task that restarts with no other explains no other's loss by having been cut off", () => {
  const scenario = new Scenario(
    jobSpec([role("worker", 2), role("board", 1, { tracking: "sidecar", restartPolicy: "none" })]),
  );
  scenario.toRunning();
  scenario.after(100_000);
  comesBack(scenario, "board:0");
  scenario.exits("worker:0", lost);
  expect(scenario.core.state.outcome).toBeUndefined();
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0", class: "program" });
});
