import { describe, expect, test } from "@jest/globals";
import { isReplaced } from "../../src/journal/task-life.ts";
import { Scenario } from "../am/core/scenario.ts";
import { jobSpec, role } from "../simulation/job.ts";

const APPLICATION = "application_1_0001";

/** A job of two workers that run, and where the first one lives. */
function running() {
  const scenario = new Scenario(jobSpec([role("worker", 2)]), APPLICATION);
  scenario.toRunning();
  const { id, containerId, generation } = scenario.task("worker:0");
  return { scenario, life: { applicationId: APPLICATION, task: id, containerId, generation } };
}

describe("a life of a task, by the job's journal", () => {
  test("goes on while the journal knows no later one", () => {
    const { scenario, life } = running();
    expect(isReplaced(scenario.journal, life)).toBe(false);
  });

  test("is over before a program of a later life is started in another container", () => {
    const { scenario, life } = running();
    scenario.breaks("worker:0");
    scenario.after(2_000);
    scenario.stops("worker:1");
    scenario.allocateAll();
    scenario.readyAll();
    expect(scenario.phases()).toBe("worker:0 starting, worker:1 starting");
    expect(scenario.task("worker:0").containerId).not.toBe(life.containerId);
    expect(isReplaced(scenario.journal, life)).toBe(true);
  });

  test("gives way in its own container only when its executor is told so", () => {
    const { scenario, life } = running();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.after(5_000);
    const { id, generation } = scenario.task("worker:0");
    expect(generation).toBeGreaterThan(life.generation);
    const known = { id, generation, containerId: life.containerId };
    expect(scenario.journal).toMatchObject({ tasks: [known, { id: "worker:1" }] });
    expect(isReplaced(scenario.journal, life)).toBe(false);
  });

  test("is not judged by an older snapshot, which has the task elsewhere", () => {
    const { life } = running();
    const older = { applicationId: APPLICATION, tasks: [{ id: "worker:0", containerId: "", generation: 1 }] };
    expect(isReplaced(older, life)).toBe(false);
    expect(isReplaced(older, { ...life, generation: 2 })).toBe(false);
  });

  test("is not judged by another job's journal, nor by one without the task", () => {
    const { life } = running();
    const tasks = [{ id: "worker:0", containerId: "c9", generation: 9 }];
    expect(isReplaced({ applicationId: APPLICATION, tasks }, life)).toBe(true);
    const over = [["worker", 0, 1]];
    expect(isReplaced({ applicationId: APPLICATION, tasks: [], over }, life)).toBe(true);
    expect(isReplaced({ applicationId: "application_1_0002", tasks, over }, life)).toBe(false);
    expect(isReplaced({ applicationId: APPLICATION, tasks: [] }, life)).toBe(false);
  });

  test.each([undefined, {}, { applicationId: APPLICATION, tasks: [{ id: "worker:0" }] }])(
    "is not guessed at from what is no snapshot",
    (snapshot) => {
      expect(() => isReplaced(snapshot, running().life)).toThrow("must be");
    },
  );
});
