import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);

/** A gang that runs and may not fail once by itself. */
function running(): Scenario {
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 5 } } });
  scenario.toRunning();
  return scenario;
}

function wantsBack(scenario: Scenario, ...containerIds: string[]) {
  return scenario.on({ type: "preemption-notice", containerIds, strict: true });
}

describe("when YARN wants a container back", () => {
  test("its program gets the signal, and nothing else happens before YARN takes the container", () => {
    const scenario = running();
    const effects = wantsBack(scenario, "c2", "another job's");
    const signal = expect.objectContaining({ type: "signal-child", signal: "SIGTERM" });
    expect(effects.filter(({ type }) => type === "send")).toEqual([
      { type: "send", to: { task: "worker:1", containerId: "c2" }, message: signal },
    ]);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test.each([{ signal: "SIGTERM" }, { exitCode: 143 }])(
    "a program that ends with %j after the notice gives way: the container goes back, and no budget pays",
    (exit) => {
      const scenario = running();
      wantsBack(scenario, "c2");
      scenario.exits("worker:1", exit);
      expect(scenario.effects).toContainEqual({
        type: "release",
        containerIds: ["c2"],
        reason: "YARN wants it back",
      });
      scenario.stops("worker:0");
      scenario.completes("c2", -100);
      expect(scenario.job).toMatchObject({
        generation: 2,
        outcome: undefined,
      });
      expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
      expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
        class: "infrastructure",
        task: "worker:1",
        summary: expect.stringContaining("preemption"),
      });
      expect(Object.values(scenario.core.state.blame).some(({ failures }) => failures > 0)).toBe(false);
    },
  );

  test("a program that ends like this under the next attempt gives way as well", () => {
    const scenario = running();
    scenario.after(1_000);
    wantsBack(scenario, "c2");
    scenario.after(1_000);
    scenario.crash(["c1", "c2"].map((containerId) => scenario.container(1, { containerId })));
    const program = { state: "running", pid: 7, startedAtMs: scenario.nowMs } as const;
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    scenario.exits("worker:1", { signal: "SIGTERM" });
    scenario.stops("worker:0");
    expect(scenario.job).toMatchObject({ generation: 2, outcome: undefined });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("a program that starts there after the notice did not get it, so that its failure is its own", () => {
    const scenario = running();
    wantsBack(scenario, "c2");
    scenario.completes("c1", -102);
    scenario.stops("worker:1");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.task("worker:1")).toMatchObject({ containerId: "c2", generation: 2 });
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "worker:1", exit: "1" } });
  });

  test("a peer that fails of the lost connection is not the cause", () => {
    const scenario = running();
    wantsBack(scenario, "c2");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.exits("worker:1", { signal: "SIGTERM" });
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("again and again, the gang starts again at once each time", () => {
    const scenario = running();
    for (let times = 1; times <= 20; times++) {
      scenario.completes(scenario.task("worker:1").containerId, -102);
      scenario.stops("worker:0");
      expect(scenario.gang.startNotBeforeMs).toBeLessThanOrEqual(scenario.nowMs);
      scenario.allocateAll();
      scenario.readyAll();
      scenario.startedAll();
    }
    expect(scenario.job).toMatchObject({ phase: "running", generation: 21 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("a program that ends at the end of the time after which YARN takes it gives way", () => {
    const scenario = running();
    wantsBack(scenario, "c2");
    scenario.after(120_000);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.job).toMatchObject({ generation: 2, outcome: undefined });
  });

  test("and takes it after all not, a program that fails long after the notice fails by itself", () => {
    const scenario = running();
    wantsBack(scenario, "c2");
    scenario.after(121_000);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "worker:1", exit: "1" } });
  });
});
