import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { stopWithinMs } from "../../../../src/job/silence.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario, sentOf } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);

function running(timeouts: Partial<typeof base.timeouts> = {}): Scenario {
  const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, ...timeouts } });
  scenario.toRunning();
  return scenario;
}

/** The executor of worker:0 was cut off, is back, and had suspended its program. */
function comesBack(scenario: Scenario): Effect[] {
  const { startedAtMs } = scenario.task("worker:0");
  return scenario.reports("worker:0", { state: "running", pid: 7, startedAtMs, suspendedMs: 45_000 });
}

describe("a program that was suspended while its executor was cut off", () => {
  test("goes on when its container is still its task's, and the log says for how long it stood still", () => {
    const scenario = running();
    scenario.breaks("worker:0");
    const effects = comesBack(scenario);
    expect(sentOf(effects, "resume-child")).toEqual(["worker:0"]);
    expect(effects).toContainEqual(
      expect.objectContaining({
        event: "task-resumed",
        message: "worker:0 goes on: it was suspended for 45 s, while its node was cut off.",
      }),
    );
    expect(effects).toContainEqual({
      type: "record",
      event: expect.objectContaining({ type: "task-resumed", task: "worker:0", suspendedMs: 45_000 }),
    });
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running");
  });

  test("is not told to go on when it was not suspended", () => {
    const scenario = running();
    scenario.breaks("worker:0");
    const { startedAtMs } = scenario.task("worker:0");
    const effects = scenario.reports("worker:0", { state: "running", pid: 7, startedAtMs });
    expect(sentOf(effects, "resume-child")).toEqual([]);
  });

  test("is told to stop, and never to go on, when its generation ends", () => {
    const scenario = running();
    scenario.exits("worker:1", { exitCode: 1 });
    const effects = comesBack(scenario);
    expect(sentOf(effects, "stop-child")).toEqual(["worker:0"]);
    expect(sentOf(effects, "resume-child")).toEqual([]);
  });

  test("has the whole time for its next step again", () => {
    const scenario = running({ progressMs: 60_000 });
    const { containerId, generation } = scenario.task("worker:0");
    const report = { task: "worker:0", containerId, generation, step: 1, atMs: scenario.nowMs };
    scenario.on({ type: "child-progress", ...report });
    scenario.breaks("worker:0");
    scenario.after(1_000);
    scenario.nowMs += 50_000;
    comesBack(scenario);
    expect(sentOf(scenario.after(59_000), "stop-child")).toEqual([]);
    expect(sentOf(scenario.after(1_000), "stop-child")).toEqual(["worker:0"]);
  });

  test("is not ended for the time during which it stood still", () => {
    const alone = jobSpec([role("worker", 1)]);
    const scenario = new Scenario({ ...alone, timeouts: { ...alone.timeouts, executionMs: 60_000 } });
    scenario.toRunning();
    scenario.breaks("worker:0");
    scenario.nowMs += 59_000;
    comesBack(scenario);
    scenario.after(46_000);
    expect(scenario.phases()).toBe("worker:0 running");
    scenario.after(stopWithinMs(alone.timeouts));
    expect(scenario.phases()).not.toBe("worker:0 running");
  });

  test("is killed when its task lives on elsewhere, because nothing of it is wanted", () => {
    const scenario = running();
    const { containerId } = scenario.task("worker:0");
    scenario.breaks("worker:0");
    scenario.after(2_000);
    const effects = scenario.on({
      type: "executor-registered",
      task: "worker:0",
      containerId,
      generation: 1,
      host: "n1",
      port: 0,
      tensorboardPort: 0,
      rejoinAddress: "n1:9",
      child: { state: "running", pid: 7, startedAtMs: scenario.nowMs, suspendedMs: 45_000 },
    });
    expect(effects).toContainEqual(
      expect.objectContaining({
        message: expect.objectContaining({
          type: "exit",
          graceMs: 0,
          reason: expect.objectContaining({ code: "replaced" }),
        }),
      }),
    );
    expect(sentOf(effects, "resume-child")).toEqual([]);
  });
});
