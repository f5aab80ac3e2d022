import { describe, expect, test } from "@jest/globals";
import { stopWithinMs } from "../../../../src/job/silence.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 1)]);

describe("a limit of the whole job counts from the first attempt of the ApplicationMaster", () => {
  test("for the job's time", () => {
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

  test("for its containers: of what has come nothing is said, nor of executors where none is awaited", () => {
    const roles = [role("worker", 1), role("ps", 1)];
    const scenario = new Scenario({ ...base, roles, timeouts: { ...base.timeouts, allocationMs: 60_000 } });
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(60_000);
    const { summary } = scenario.core.state.outcome ?? {};
    expect(summary).toMatch(/^1 of 2 tasks not registered .* it still waited for 1 container of ps: /);
    expect(summary).not.toContain("executors");
  });

  test("for its containers, and names those that do not come, with the reason, and executors that have not registered", () => {
    const scenario = new Scenario({
      ...base,
      roles: base.roles.map((only) => ({ ...only, instances: 2 })),
      timeouts: { ...base.timeouts, allocationMs: 60_000 },
    });
    const size = { memoryMiB: 8192, vcores: 8, others: {} };
    const node = { nodeId: "a:1", host: "a", rack: "/r", usable: true, labels: [], free: size, total: size };
    scenario.on({ type: "nodes-changed", nodes: [node] });
    scenario.register();
    scenario.on({ type: "headroom-changed", available: { memoryMiB: 0, vcores: 0, others: {} } });
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.after(60_000);
    expect(scenario.core.state.outcome?.summary).toMatch(
      /^2 of 2 tasks not registered within 1 min: .*; it still waited for 1 of 2 containers of worker: .* \(in queue default .* are free for this job: too little memory and too few cores\); the executors of worker:0$/,
    );
  });
});

describe("a program that runs longer than it may", () => {
  const limited = () => {
    const scenario = new Scenario({
      ...base,
      timeouts: { ...base.timeouts, executionMs: 60_000, heartbeatExpiryMs: 600_000 },
    });
    scenario.toRunning();
    return scenario;
  };
  const boundMs = 60_000 + stopWithinMs(base.timeouts);

  test("and that its executor does not end is ended with its container, and its budget pays", () => {
    const scenario = limited();
    scenario.after(boundMs);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "waiting", generation: 2 });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("owes nothing any more once it has ended: only the container of one that still runs is stopped", () => {
    const two = jobSpec([role("worker", 2)]);
    const scenario = new Scenario({ ...two, timeouts: { ...two.timeouts, executionMs: 60_000 } });
    scenario.toRunning();
    scenario.exits("worker:0");
    const stopped = scenario
      .after(boundMs)
      .flatMap((effect) => (effect.type === "stop-container" ? [effect.containerId] : []));
    expect(stopped).toEqual(["c2"]);
  });

  test("is not judged while its executor is not heard, because that may have suspended it", () => {
    const scenario = limited();
    scenario.after(30_000);
    scenario.silent("worker:0", 6_000);
    scenario.after(boundMs);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "running", generation: 1 });

    scenario.back("worker:0");
    scenario.after(stopWithinMs(base.timeouts));
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });
});
