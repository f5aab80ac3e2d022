import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 1)]);

describe("a limit of the whole job counts from the first attempt of the ApplicationMaster", () => {
  test("for its time", () => {
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, applicationMs: 60_000 } });
    scenario.toRunning();
    scenario.after(1_000);
    const kept = scenario.container(1, { containerId: "c1" });
    scenario.after(39_000);
    scenario.crash([kept]);
    scenario.reports("worker:0", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    scenario.after(20_000);
    expect(scenario.core.state.outcome?.summary).toMatch(/^the job ran longer than 1 min/);
  });

  test("for its containers", () => {
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, allocationMs: 60_000 } });
    scenario.register();
    scenario.after(40_000);
    scenario.crash([]);
    scenario.after(20_000);
    expect(scenario.core.state.outcome?.summary).toMatch(/^1 of 1 task not registered within 1 min/);
  });
});
