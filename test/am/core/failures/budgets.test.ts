import { expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

test("the pause before a restart doubles from the second on, up to the longest", () => {
  const { failure } = jobSpec([]);
  const scenario = new Scenario(
    jobSpec([role("worker", 1)], {
      failure: {
        ...failure,
        budgets: { program: 9, infrastructure: 9 },
        backOff: { initialMs: 1_000, maxMs: 3_000 },
      },
    }),
  );
  scenario.toRunning();
  const pauses = Array.from({ length: 5 }, () => {
    scenario.exits("worker:0", { exitCode: 1 });
    const pauseMs = Math.max(0, scenario.core.state.startNotBeforeMs - scenario.nowMs);
    scenario.readyAll();
    scenario.after(3_000);
    scenario.startedAll();
    return pauseMs;
  });
  expect(pauses).toEqual([0, 1_000, 2_000, 3_000, 3_000]);
});
