import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../simulation/job.ts";
import { childExit } from "../../support/child-exit.ts";
import { Scenario, sentOf } from "./scenario.ts";

describe("the end of a program", () => {
  test("that we stopped is no success, though it exits 0", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1)]));
    scenario.toRunning();
    scenario.exits("worker:0");
    const effects = scenario.exits("ps:0", { exitCode: 0, stopReason: "the job ends" });
    expect(scenario.phases()).toBe("worker:0 succeeded, ps:0 stopped");
    expect(effects).toContainEqual({
      type: "record",
      event: expect.objectContaining({ type: "task-ended", task: "ps:0", fields: { exit: "0", result: "stopped" } }),
    });
  });

  test("of an earlier generation is acknowledged, and changes nothing", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.readyAll();
    scenario.startedAll();
    const { containerId } = scenario.task("worker:1");
    const exit = childExit(scenario.nowMs, { exitCode: 1 });
    const effects = scenario.on({ type: "child-exited", task: "worker:1", containerId, generation: 1, exit });
    expect(sentOf(effects, "acknowledge-exit")).toEqual(["worker:1"]);
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running");
    expect(scenario.core.state).toMatchObject({ generation: 2, used: { program: 1 } });
  });
});
