import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario, sentOf } from "../scenario.ts";

const base = jobSpec([role("worker", 6)]);

function running(): Scenario {
  const scenario = new Scenario(base);
  scenario.toRunning();
  return scenario;
}

test("an executor in a container that is not the job's is told to end", () => {
  const scenario = running();
  const effects = scenario.on({
    type: "executor-registered",
    task: "worker:1",
    containerId: "c99",
    generation: 1,
    host: "n99",
    port: 1,
    tensorboardPort: 0,
    rejoinAddress: "n99:9",
    child: { state: "running", pid: 7, startedAtMs: 1 },
  });
  expect(sentOf(effects, "exit")).toEqual(["worker:1"]);
  expect(scenario.task("worker:1").containerId).toBe("c2");
});

test("the goodbye of the executor that made way for the present one in the same container takes nothing from it", () => {
  const scenario = running();
  scenario.on({ type: "executor-lost", task: "worker:0", containerId: "c2", cause: "goodbye" });
  expect(scenario.core.state.containers.c2).toMatchObject({ phase: "held", link: "up" });
  expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
});

test("a stream that breaks before its executor has registered, or is said to break twice, gives no other time to come back", () => {
  const scenario = new Scenario(base);
  scenario.register();
  scenario.allocateAll();
  scenario.breaks("worker:1");
  expect(scenario.core.state.containers.c2).toMatchObject({ link: "none" });
  scenario.readyAll();
  scenario.startedAll();
  scenario.breaks("worker:1");
  scenario.after(1_500);
  scenario.breaks("worker:1");
  scenario.after(499);
  expect(scenario.gang.generation).toBe(1);
  scenario.after(1);
  expect(scenario.gang.generation).toBe(2);
});

test("that a container of the past could not be launched changes nothing", () => {
  const scenario = running();
  const effects = scenario.on({ type: "launch-failed", containerId: "c99", message: "no", nodeAtFault: true });
  expect(effects).toEqual([]);
});

test("who lost its container while its program ran is told, with why", () => {
  const scenario = running();
  const effects = scenario.completes("c2", -100, "Container released on a *lost* node");
  expect(effects).toContainEqual(
    expect.objectContaining({ event: "task-lost", message: "worker:1 lost its node on n2." }),
  );
});

test("a task that lives on its own and loses its container before it starts gets another, while the others run", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { restartPolicy: "task" })]));
  scenario.toRunning();
  scenario.exits("ps:0", { exitCode: 1 });
  const effects = scenario.completes(scenario.task("ps:0").containerId, -100);
  expect(scenario.phases()).toBe("worker:0 running, ps:0 waiting");
  expect(effects).toContainEqual(expect.objectContaining({ type: "log", event: "container-replaced" }));
  expect(scenario.task("ps:0").restarts).toBe(1);
});

test("a task whose container is lost has ended then, as YARN says", () => {
  const scenario = new Scenario(
    jobSpec([role("worker", 2)], { failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } }),
  );
  scenario.toRunning();
  scenario.after(5_000);
  scenario.completes("c2", -100);
  expect(scenario.task("worker:1")).toMatchObject({ phase: "lost", exit: "-100", endedAtMs: scenario.nowMs });
});

test("a job that ends loses nothing more: what its containers end with is no news", () => {
  const scenario = running();
  scenario.on({ type: "stop-requested", reason: "enough" });
  const effects = scenario.completes("c2", -100);
  expect(effects.filter((one) => one.type === "log" && one.level === "warn")).toEqual([]);
  expect(scenario.core.state.blame).toEqual({});
});

test("a kept container that ends before its executor comes is asked for anew", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2)]));
  scenario.register();
  scenario.crash([scenario.container(1), scenario.container(1)]);
  expect(scenario.core.state.unclaimed[0]).toBe(2);
  const effects = scenario.completes("c1", -100);
  expect(scenario.core.state.unclaimed[0]).toBe(1);
  expect(asksOf(effects)).toMatchObject([{ count: 1 }]);
});

describe("a container that we gave up", () => {
  test("is not taken for a lost node when YARN says that it was released: the silence stays the reason", () => {
    const scenario = running();
    scenario.vanishes("worker:1");
    scenario.completes("c2", -100, "Container released by application");
    expect(scenario.gang.generations[0]?.endedBy?.summary).toBe("worker:1 on n2 was silent for 10 s or more");
  });

  test("is stopped again by the next attempt, which cannot know whether the first order arrived", () => {
    const scenario = running();
    scenario.vanishes("worker:1");
    scenario.after(1_000);
    const kept = scenario.container(1, { containerId: "c2" });
    const effects = scenario.crash([kept]);
    expect(effects).toContainEqual({ type: "stop-container", containerId: "c2", reason: "its executor is silent" });
  });
});

test("an executor may take half a minute to find the next attempt", () => {
  const scenario = running();
  scenario.after(1_000);
  scenario.crash([]);
  scenario.after(40_000);
  expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
});
