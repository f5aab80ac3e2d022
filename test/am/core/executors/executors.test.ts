import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { Scenario, sentOf } from "../scenario.ts";

describe("the end of a program", () => {
  test("that we stopped is no success, even if it exits 0", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1)]));
    scenario.toRunning();
    scenario.exits("worker:0");
    const effects = scenario.exits("ps:0", { exitCode: 0, stopReason: { code: "job-ended" } });
    expect(scenario.phases()).toBe("worker:0 succeeded, ps:0 stopped");
    expect(effects).toContainEqual({
      type: "record",
      event: expect.objectContaining({ type: "task-ended", task: "ps:0", exit: "0", result: "stopped" }),
    });
  });

  test.each([
    [
      "SIGKILL",
      "worker:1 ended: stopped, exit SIGKILL: it was still stopping; the time for that is tony.task.stop-grace (10 s).",
    ],
    ["SIGTERM", "worker:1 ended: stopped, exit SIGTERM."],
  ])("that was stopped, by %s, says whether it had enough time to stop", (signal, message) => {
    const base = jobSpec([role("worker", 2)]);
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, stopGraceMs: 10_000 } });
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1 });
    const effects = scenario.exits("worker:1", {
      signal,
      stopReason: { code: "generation-ended", why: "worker:0 failed" },
    });
    expect(effects).toContainEqual(expect.objectContaining({ type: "log", message }));
  });

  test("of an earlier generation is acknowledged and changes nothing", () => {
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
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 1 });
  });
});
