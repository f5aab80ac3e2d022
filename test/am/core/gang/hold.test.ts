import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const spec = jobSpec([role("worker", 2)]);

/** A gang that gets one container, holds it too long and gives it back, so many times: how long it paused each time. */
function pausesOf(applicationId: string, returns: number): number[] {
  const scenario = new Scenario(spec, applicationId);
  scenario.register();
  return Array.from({ length: returns }, () => {
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(spec.timeouts.gangHoldMs);
    const pauseMs = scenario.gang.hold.askAgainAtMs - scenario.nowMs;
    scenario.after(pauseMs);
    return pauseMs;
  });
}

/** Containers that its tasks hold. */
function heldBy(scenario: Scenario): string[] {
  return scenario.core.state.tasks.flatMap(({ containerId }) => (containerId === "" ? [] : [containerId]));
}

describe("the hold of a gang in part", () => {
  const gangHoldMs = 60_000;
  const large = jobSpec([role("worker", 4)], { timeouts: { ...spec.timeouts, gangHoldMs } });

  test("counts from the last container that came: a gang that still grows gives nothing back", () => {
    const scenario = new Scenario(large);
    scenario.register();
    for (let given = 1; given <= 3; given++) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
      scenario.ready(`worker:${given - 1}`);
      scenario.after(gangHoldMs - 1);
    }
    expect(heldBy(scenario)).toEqual(["c1", "c2", "c3"]);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });

  test("keeps what is registered for as long again, where something else can be given back first", () => {
    const scenario = new Scenario(large);
    scenario.register();
    scenario.on({
      type: "containers-allocated",
      containers: [scenario.container(1), scenario.container(1), scenario.container(1)],
    });
    scenario.ready("worker:0");
    scenario.ready("worker:1");
    scenario.after(gangHoldMs);
    expect(heldBy(scenario)).toEqual(["c1", "c2"]);
    scenario.after(scenario.gang.hold.askAgainAtMs - scenario.nowMs);
    scenario.after(gangHoldMs - 1);
    expect(heldBy(scenario)).toEqual(["c1", "c2"]);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });
});

describe("the pause of a gang that gave its containers back", () => {
  test("differs from job to job, or two that wait for each other would do so for ever", () => {
    const first = new Set(
      ["application_1_0001", "application_1_0002", "application_1_0003"].flatMap((id) => pausesOf(id, 1)),
    );
    expect(first.size).toBe(3);
  });

  test("doubles each time, to five minutes, give or take a half", () => {
    const pauses = pausesOf("application_1_0001", 8);
    const bases = [10, 20, 40, 80, 160, 300, 300, 300];
    for (const [index, pauseMs] of pauses.entries()) {
      const baseMs = (bases[index] ?? 0) * 1_000;
      expect(pauseMs).toBeGreaterThanOrEqual(baseMs * 0.5);
      expect(pauseMs).toBeLessThanOrEqual(baseMs * 1.5);
    }
  });
});
