import { describe, expect, test } from "@jest/globals";
import { createCore } from "../../../am/core/core.ts";
import type { Effect } from "../../../am/core/state/effects.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { childExit } from "../../support/child-exit.ts";
import { Scenario, sentOf } from "./scenario.ts";

const base = jobSpec([role("worker", 2)]);

function wakeUpsOf(effects: readonly Effect[]): number[] {
  return effects.flatMap((effect) => (effect.type === "wake-at" ? [effect.atMs] : []));
}

describe("the wake-up that the core asks for", () => {
  test("comes when the first of all deadlines is over", () => {
    const scenario = new Scenario(base);
    scenario.register();
    const asked = wakeUpsOf(scenario.allocateAll()).at(-1);
    expect(asked).toBeLessThanOrEqual(scenario.nowMs + base.timeouts.launchMs);
    scenario.after(base.timeouts.launchMs - 1);
    expect(scenario.task("worker:0").containerId).toBe("c1");
    scenario.after(1);
    expect(scenario.task("worker:0").containerId).toBe("");
  });

  test("is asked for again when something is due earlier, and not when everything is due later", () => {
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, progressMs: 30_000 } });
    scenario.toRunning();
    scenario.after(1_000);
    const report = (step: number) =>
      scenario.on({ type: "child-progress", task: "worker:0", containerId: "c1", generation: 1, step, atMs: 0 });
    expect(wakeUpsOf(report(1))).toEqual([scenario.nowMs + 30_000]);
    scenario.after(1_000);
    expect(wakeUpsOf(report(2))).toEqual([]);
  });

  test("comes when what was refused of any role is asked for again", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1)]));
    scenario.register();
    const effects = scenario.on({ type: "ask-too-large", role: "ps", message: "too large" });
    expect(wakeUpsOf(effects)).toEqual([scenario.nowMs + 60_000]);
  });

  test("covers what is awaited by a core that was rebuilt from its JSON", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.breaks("worker:0");
    const identity = {
      applicationId: "application_1_0001",
      attempt: 1,
      amHost: "n0",
      amContainerId: "c0",
      startedAtMs: 0,
      nodeHeartbeatMs: 1_000,
    };
    scenario.core = createCore(base, identity, { state: JSON.parse(JSON.stringify(scenario.core.state)) });
    expect(sentOf(scenario.after(2_000), "stop-child")).toEqual(["worker:1"]);
  });
});

describe("a wake-up that comes late", () => {
  test("blames nobody before what was said meanwhile has been read", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.stops("worker:1");
    scenario.nowMs += base.timeouts.stopGraceMs + 60_000;
    // Its shell says so before it wakes it.
    scenario.on({ type: "paused" });
    scenario.wakes();
    expect(scenario.phases()).toBe("worker:0 preparing, worker:1 preparing");
    scenario.readyAll();
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });
});

describe("a verdict that is open when the ApplicationMaster dies", () => {
  test("waits until the executors are back", () => {
    const scenario = new Scenario({
      ...base,
      failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } },
    });
    scenario.toRunning();
    scenario.after(1_000);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.after(1_000);
    scenario.crash([scenario.container(1, { containerId: "c1" }), scenario.container(1, { containerId: "c2" })]);
    scenario.ready("worker:0");
    scenario.after(base.timeouts.verdictMs + 1_000);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.reports("worker:1", { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 3 }) });
    expect(scenario.core.state.outcome?.cause).toMatchObject({ task: "worker:1", exit: "3" });
  });
});

describe("an execution limit", () => {
  test("stops an executor that exceeds it in a later attempt, too", () => {
    const spec = { ...base, timeouts: { ...base.timeouts, executionMs: 600_000 } };
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.after(60_000);
    scenario.exits("worker:1");
    scenario.crash([scenario.container(1, { containerId: "c1" }), scenario.container(1, { containerId: "c2" })]);
    scenario.reports("worker:0", { state: "running", startedAtMs: 0, pid: 7 });
    scenario.after(599_000);
    expect(scenario.task("worker:0").phase).toBe("running");
    scenario.after(1_000 + stopWithinMs(spec.timeouts));
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
  });
});

describe("the hold of a gang in part", () => {
  test("ends in a later attempt, too", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(60_000);
    scenario.crash([scenario.container(1, { containerId: "c1" })]);
    scenario.ready("worker:0");
    scenario.after(base.timeouts.gangHoldMs);
    expect(scenario.gang.hold.returns).toBe(1);
  });
});
