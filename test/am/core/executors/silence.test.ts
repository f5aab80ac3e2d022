import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 6)]);
const { heartbeatExpiryMs, massSilenceMs } = base.timeouts;
const SILENT_MS = 6_000;

function running(): Scenario {
  const scenario = new Scenario(base);
  scenario.toRunning();
  return scenario;
}

function expectLostAfter(scenario: Scenario, durationMs: number): void {
  scenario.after(durationMs - 1);
  expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  scenario.after(1);
  expect(scenario.gang.generation).toBe(2);
}

describe("an executor that is silent", () => {
  test("is lost when it has not been heard for ten seconds", () => {
    const scenario = running();
    scenario.silent("worker:1", SILENT_MS);
    expectLostAfter(scenario, heartbeatExpiryMs - SILENT_MS);
    expect(scenario.gang.generations[0]?.endedBy?.summary).toBe("worker:1 on n2 was silent for 10 s or more");
  });

  test("is not lost when it is heard again in time", () => {
    const scenario = running();
    scenario.silent("worker:1", SILENT_MS);
    scenario.back("worker:1");
    scenario.after(massSilenceMs);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("does not point to the network where it is one of two", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    scenario.silent("worker:1", SILENT_MS);
    expectLostAfter(scenario, heartbeatExpiryMs - SILENT_MS);
  });

  test("has ten seconds where a third of them is silent", () => {
    const scenario = running();
    scenario.silent("worker:1", SILENT_MS);
    scenario.silent("worker:2", SILENT_MS);
    expectLostAfter(scenario, heartbeatExpiryMs - SILENT_MS);
  });

  test("has a minute where more than a third are silent together, because the network is the likelier cause", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.silent(task, SILENT_MS);
    }
    expectLostAfter(scenario, massSilenceMs - SILENT_MS);
  });

  test("has as long as any where that is more than a minute", () => {
    const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, heartbeatExpiryMs: 90_000 } });
    scenario.toRunning();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.silent(task, SILENT_MS);
    }
    expectLostAfter(scenario, 90_000 - SILENT_MS);
  });

  test("has no more time once the others are heard again", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.silent(task, SILENT_MS);
    }
    scenario.after(20_000);
    scenario.back("worker:1");
    scenario.back("worker:2");
    scenario.after(1_000);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:3" });
  });

  test("has its time again after a pause of the ApplicationMaster, in which nobody listened", () => {
    const scenario = running();
    scenario.silent("worker:1", SILENT_MS);
    scenario.after(1_000);
    scenario.on({ type: "paused" });
    scenario.after(heartbeatExpiryMs - SILENT_MS);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });
});

describe("an executor whose stream broke", () => {
  test("is lost when it is not back in time, and what may still run there is stopped by its node", () => {
    const scenario = running();
    scenario.breaks("worker:1");
    const effects = scenario.after(2_000);
    expect(effects).toContainEqual({ type: "stop-container", containerId: "c2", reason: "its stream broke" });
    expect(scenario.gang.generation).toBe(2);
  });

  test("has the time of a broken stream, although it had been silent before", () => {
    const scenario = running();
    scenario.silent("worker:1", 9_000);
    scenario.breaks("worker:1");
    expectLostAfter(scenario, 2_000);
    expect(scenario.gang.generations[0]?.endedBy?.summary).not.toContain("silent");
  });

  test("has as much time as executors that look for an attempt that took over, because all come at once", () => {
    const scenario = running();
    const held = scenario.core.state.tasks.map(({ containerId }) => containerId);
    scenario.crash(held.map((containerId) => scenario.container(1, { containerId })));
    for (const { id } of scenario.core.state.tasks) {
      scenario.reports(id, { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    }
    scenario.breaks("worker:1");
    scenario.after(45_000);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    scenario.after(15_000);
    expect(scenario.gang.generation).toBe(2);
  });

  test("has as much time as others that look for this attempt again after a pause of its process", () => {
    const scenario = running();
    scenario.on({ type: "paused" });
    const { graceMs } = scenario.core.state.pause;
    expect(graceMs).toBeGreaterThan(2_000);
    scenario.breaks("worker:1");
    scenario.after(graceMs - 1);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    scenario.after(1);
    expect(scenario.gang.generation).toBe(2);
  });

  test("has a minute when the streams of more than a third broke together, because the network is the likelier cause", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.breaks(task);
    }
    expectLostAfter(scenario, massSilenceMs);
  });

  test("has that minute from when it was last heard, where it was silent before", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.silent(task, SILENT_MS);
      scenario.breaks(task);
    }
    expectLostAfter(scenario, massSilenceMs - SILENT_MS);
  });
});

describe("executors that are cut off together", () => {
  test("have a minute even where the streams of some broke and others are only silent", () => {
    const scenario = running();
    scenario.silent("worker:1", SILENT_MS);
    scenario.silent("worker:2", SILENT_MS);
    scenario.breaks("worker:3");
    expectLostAfter(scenario, massSilenceMs - SILENT_MS);
  });

  test("are at least two of five: one of each kind is enough", () => {
    const scenario = new Scenario(jobSpec([role("worker", 5)]));
    scenario.toRunning();
    scenario.silent("worker:1", SILENT_MS);
    scenario.breaks("worker:2");
    scenario.after(massSilenceMs - SILENT_MS - 1);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("are counted among those that are there, not among all that were asked for", () => {
    const scenario = new Scenario(jobSpec([role("worker", 5), role("scorer", 5, { dependsOn: ["worker"] })]));
    scenario.toRunning();
    scenario.silent("worker:1", SILENT_MS);
    scenario.silent("worker:2", SILENT_MS);
    scenario.after(massSilenceMs - SILENT_MS - 1);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("are only those that are not back: an executor that registers again counts as heard", () => {
    const scenario = running();
    scenario.breaks("worker:2");
    scenario.breaks("worker:3");
    scenario.silent("worker:1", SILENT_MS);
    scenario.after(1_000);
    for (const task of ["worker:2", "worker:3"]) {
      scenario.reports(task, { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    }
    expectLostAfter(scenario, heartbeatExpiryMs - SILENT_MS - 1_000);
  });

  test("are counted by the next attempt of the ApplicationMaster from what it hears itself", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.silent(task, SILENT_MS);
    }
    scenario.after(1_000);
    scenario.crash([]);
    expect(scenario.core.state).toMatchObject({ heard: 0, unheard: 0 });
  });
});
