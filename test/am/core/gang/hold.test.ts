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
    const pauseMs = scenario.core.state.gang.askAgainAtMs - scenario.nowMs;
    scenario.after(pauseMs);
    return pauseMs;
  });
}

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
