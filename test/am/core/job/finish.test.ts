import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario, sentOf, typesOf } from "../scenario.ts";

const spec = jobSpec([role("worker", 2), role("ps", 1)]);

/** A program's grace, and a little more. */
const STOP = 5_000 + 5_000;

describe("a job ends", () => {
  test("when its tracked tasks are done: outcome journaled, parameter servers stopped, unregistered, staging cleaned", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.exits("worker:0");
    const before = scenario.effects.length;
    scenario.exits("worker:1");
    scenario.stops("ps:0");
    scenario.on({ type: "unregistered", isPutDown: true });
    const order = scenario.effects
      .slice(before)
      .filter(({ type }) => ["journal", "send", "unregister", "exit"].includes(type));
    expect(order.map((effect) => (effect.type === "send" ? effect.message.type : effect.type))).toEqual([
      "acknowledge-exit",
      "journal",
      "exit",
      "exit",
      "exit",
      "acknowledge-exit",
      "unregister",
      "exit",
    ]);
    expect(scenario.effects.at(-1)).toEqual({ type: "exit", exitCode: 0, cleanStaging: true });
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      summary: "2 of 2 tracked tasks exited 0",
    });
  });

  test("and with it the generation that runs, while those before it ended when they did", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1 });
    const firstEndedAtMs = scenario.nowMs;
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(5_000);
    scenario.on({ type: "stop-requested", reason: "enough" });
    expect(scenario.gang.generations.map(({ endedAtMs }) => endedAtMs)).toEqual([firstEndedAtMs, scenario.nowMs]);
  });

  test("and its history has that as its last word", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    scenario.exits("worker:0");
    const recorded = scenario.effects.flatMap((effect) => (effect.type === "record" ? [effect.event] : []));
    expect(recorded.at(-1)).toMatchObject({
      ...{ type: "job-ended", result: "succeeded", summary: "1 of 1 task exited 0" },
      reason: { code: "tasks-ended", succeeded: 1, tasks: 1 },
    });
  });

  test("without waiting for an executor that is not connected, whose task has left nothing", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.breaks("ps:0");
    scenario.exits("worker:0");
    const effects = scenario.exits("worker:1");
    expect(sentOf(effects, "exit")).toEqual(["worker:0", "worker:1"]);
    expect(effects).toContainEqual({ type: "stop-container", containerId: "c3", reason: "the job ends" });
    expect(typesOf(effects)).toContain("unregister");
  });

  test("and leaves the staging folder where the ResourceManager says only that this attempt is over, because another one may be starting from it", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    scenario.exits("worker:0");
    scenario.on({ type: "unregistered", isPutDown: false });
    expect(scenario.effects.at(-1)).toEqual({ type: "exit", exitCode: 0, cleanStaging: false });
  });

  test("with the outcome as the last entry of its journal", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.exits("worker:0");
    scenario.exits("worker:1");
    const decided = scenario.effects.length;
    scenario.stops("ps:0");
    scenario.after(1_000);
    expect(typesOf(scenario.effects.slice(decided))).not.toContain("journal");
  });

  test("later than the generation with which it ends, whose programs had to stop first", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const endedAtMs = scenario.nowMs;
    for (let restart = 1; restart <= spec.failure.budgets.program; restart++) {
      scenario.exits("worker:0", { exitCode: 1 });
      for (const task of ["worker:1", "ps:0"]) scenario.stops(task);
      scenario.readyAll();
      scenario.after(10_000);
      scenario.startedAll();
    }
    scenario.exits("worker:0", { exitCode: 1 });
    const failedAtMs = scenario.nowMs;
    scenario.after(3_000);
    scenario.stops("worker:1");
    scenario.stops("ps:0");
    const { generations, outcome } = statusOf(scenario.core, scenario.nowMs);
    expect(generations).toMatchObject([{ endedAtMs }, {}, { endedAtMs: failedAtMs }]);
    expect(outcome).toMatchObject({ result: "failed", endedAtMs: failedAtMs + 3_000 });
  });

  test("whether or not the outcome can be journaled, after five seconds", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.journalWorks = false;
    expect(sentOf(scenario.on({ type: "stop-requested", reason: "stopped by alice" }), "exit")).toEqual([]);
    expect(sentOf(scenario.after(4_999), "exit")).toEqual([]);
    expect(sentOf(scenario.after(1), "exit")).toEqual(["worker:0", "worker:1", "ps:0"]);
    scenario.journalWorks = true;
    const effects = scenario.after(1_000);
    expect(typesOf(effects)).toContain("journal");
    expect(sentOf(effects, "exit")).toEqual([]);
  });

  test("once: what comes after the decision changes nothing", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    expect(scenario.gang.phase).toBe("over");
    expect(scenario.on({ type: "stop-requested", reason: "stopped by bob" })).toEqual([]);
    expect(scenario.core.state.outcome?.summary).toBe("stopped by alice");
  });

  test.each<[string, (scenario: Scenario) => void]>([
    ["info: The job has succeeded: 1 of 1 task exited 0", (scenario) => scenario.exits("worker:0")],
    [
      "info: The job was killed: stopped by alice",
      (scenario) => scenario.on({ type: "stop-requested", reason: "stopped by alice" }),
    ],
    [
      "error: The job has failed: no such label",
      (scenario) => scenario.on({ type: "ask-refused", message: "no such label" }),
    ],
  ])("which is told as %s", (words, end) => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    end(scenario);
    const told = scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event === "outcome-decided" ? [`${effect.level}: ${effect.message}`] : [],
    );
    expect(told).toEqual([words]);
  });

  test("when the ResourceManager has taken its end: nothing that is heard later counts", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1)]));
    scenario.toRunning();
    expect(scenario.on({ type: "unregistered", isPutDown: true })).toEqual([]);
    scenario.exits("worker:0");
    scenario.on({ type: "unregistered", isPutDown: true });
    expect(scenario.core.state.phase).toBe("over");
    expect(scenario.completes("c1", 0)).toEqual([]);
  });

  test("after the programs' grace and a little more, whether or not they stop", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    expect(typesOf(scenario.after(STOP - 1))).not.toContain("unregister");
    const effects = scenario.after(1);
    expect(effects.filter(({ type }) => type === "stop-container")).toHaveLength(3);
    expect(typesOf(effects)).toContain("unregister");
  });

  test("by a request, which releases at once what has not started yet", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    const effects = scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    expect(effects).toContainEqual({ type: "release", containerIds: ["c1"], reason: "the job ends" });
    expect(typesOf(effects)).toContain("unregister");
    expect(scenario.core.state.outcome).toMatchObject({ result: "killed", summary: "stopped by alice" });
  });

  test("by its time limit, which is named", () => {
    const limited = { ...spec, timeouts: { ...spec.timeouts, applicationMs: 60_000 } };
    const scenario = new Scenario(limited);
    scenario.toRunning();
    scenario.after(59_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome?.summary).toBe("the job ran longer than 1 min: tony.application.timeout");
  });

  test("what is said of a failure after the outcome was decided changes nothing that was charged for it", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    scenario.breaks("worker:1");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.on({ type: "stop-requested", reason: "stopped by alice" });
    scenario.completes("c2", 137);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("an attempt that YARN has given up touches nothing", () => {
    const scenario = new Scenario(spec);
    scenario.toRunning();
    const effects = scenario.on({ type: "resource-manager-shutdown", reason: "ApplicationAttemptNotFoundException" });
    const message = "This attempt is over and touches nothing more: ApplicationAttemptNotFoundException";
    expect(effects).toEqual([
      { type: "log", level: "warn", event: "attempt-over", message },
      { type: "exit", exitCode: 1, cleanStaging: false },
    ]);
    expect(scenario.exits("worker:0")).toEqual([]);
  });

  test("when an evaluator's grace after the workers is over: it is stopped, and the job has succeeded", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("evaluator", 1)]));
    scenario.toRunning();
    scenario.exits("worker:0");
    expect(scenario.gang.phase).toBe("running");
    expect(sentOf(scenario.after(spec.timeouts.afterChiefMs), "exit")).toContain("evaluator:0");
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("when the chief is done the workers have their grace", () => {
    const scenario = new Scenario(jobSpec([role("chief", 1), role("worker", 1, { chief: "none" })]));
    scenario.toRunning();
    expect(scenario.exits("chief:0")).toContainEqual(
      expect.objectContaining({
        ...{ level: "info", event: "grace-begun" },
        message: "The main tasks are done; the others may run on for 20 s.",
      }),
    );
    scenario.after(spec.timeouts.afterChiefMs - 1);
    expect(statusOf(scenario.core, scenario.nowMs).waits).toMatchObject([
      {
        what: "the end of worker:0, as the main tasks are done",
        sinceMs: scenario.nowMs - spec.timeouts.afterChiefMs + 1,
        endsAtMs: scenario.nowMs + 1,
        atEnd: "they are stopped (tony.application.after-chief-grace)",
      },
    ]);
    expect(scenario.gang.phase).toBe("running");
    scenario.after(1);
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });
});
