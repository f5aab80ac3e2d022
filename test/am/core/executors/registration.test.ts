import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { Scenario, sentOf } from "../scenario.ts";

const spec = jobSpec([role("worker", 2)]);

function begun(): Scenario {
  const scenario = new Scenario(spec);
  scenario.register();
  scenario.allocateAll();
  return scenario;
}

function running(): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  return scenario;
}

describe("an executor that reports what this attempt has not ordered restarts nothing", () => {
  test("a generation that there is not yet", () => {
    const scenario = running();
    scenario.ready("worker:1", { generation: 7 });
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1, lastGeneration: 1 });
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running");
  });

  test("a program that nobody has started", () => {
    const scenario = begun();
    scenario.reports("worker:1", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    expect(scenario.job).toMatchObject({ phase: "gathering", generation: 1 });
    expect(scenario.task("worker:1").phase).toBe("allocated");
  });

  test("and counts as absent: its container is given up, and that is charged", () => {
    const scenario = running();
    scenario.breaks("worker:1");
    scenario.ready("worker:1", { generation: 7 });
    scenario.after(60_000);
    expect(scenario.used).toMatchObject({ infrastructure: 1 });
    expect(scenario.job).toMatchObject({ generation: 2 });
  });

  test("not even where an earlier attempt had the container, once this one has heard of it", () => {
    const scenario = running();
    const { containerId } = scenario.task("worker:1");
    scenario.crash([scenario.container(1, { containerId })]);
    scenario.reports("worker:1", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    scenario.ready("worker:1", { generation: 7 });
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });
});

test("what the attempt before had ordered but not written down becomes known by an executor's first message", () => {
  const scenario = running();
  const { containerId } = scenario.task("worker:1");
  scenario.crash([scenario.container(1, { containerId })]);
  scenario.ready("worker:1", { generation: 2 });
  expect(scenario.job).toMatchObject({ phase: "restarting", generation: 3 });
  expect(scenario.used).toMatchObject({ infrastructure: 0 });
});

test("where another one's word has begun a restart, an executor that is as far joins it", () => {
  const scenario = running();
  scenario.crash([]);
  scenario.ready("worker:0", { generation: 2 });
  expect(scenario.gang.generation).toBe(3);
  const effects = scenario.ready("worker:1", { generation: 3 });
  expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
  expect(scenario.gang).toMatchObject({ generation: 3, verdicts: [] });
  scenario.readyAll();
  expect(scenario.phases()).toBe("worker:0 starting, worker:1 starting");
});

test("an executor whose program has gone while it was to stop joins the restart of its gang, and nobody waits for its end", () => {
  const scenario = running();
  scenario.exits("worker:1", { exitCode: 1 });
  scenario.breaks("worker:0");
  const effects = scenario.reports("worker:0", { state: "none" }, { generation: 1 });
  expect(sentOf(effects, "prepare")).toEqual(["worker:0"]);
  expect(scenario.gang).toMatchObject({ phase: "gathering", verdicts: [] });
});

test("an executor that is well in an earlier generation has no exit to be acknowledged", () => {
  const scenario = running();
  scenario.exits("worker:1", { exitCode: 1 });
  const effects = scenario.ready("worker:1", { generation: 1 });
  expect(sentOf(effects, "acknowledge-exit")).toEqual([]);
});

test("a task is where its executor says that it is, which is told in words", () => {
  const scenario = begun();
  const { containerId } = scenario.task("worker:1");
  const effects = scenario.on({
    ...{ type: "executor-registered", task: "worker:1", containerId, generation: 1, host: "n2.example", port: 4000 },
    ...{ tensorboardPort: 0, rejoinAddress: "n2.example:9", child: { state: "none" } },
  });
  expect(scenario.task("worker:1")).toMatchObject({ host: "n2.example", port: 4000 });
  expect(effects).toContainEqual(
    expect.objectContaining({ event: "task-registered", message: "worker:1 is ready at n2.example:4000." }),
  );
});

test("further ports that an executor reserves are its task's, also when it registers again without them", () => {
  const scenario = begun();
  scenario.ready("worker:1", { ports: { metrics: 4001 } });
  scenario.ready("worker:1");
  expect(scenario.task("worker:1").ports).toEqual({ metrics: 4001 });
  expect(scenario.task("worker:0").ports).toBeUndefined();
});

test("what it had ordered of a task that lives on its own concerns that task alone, which begins again", () => {
  const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
  scenario.toRunning();
  const { containerId } = scenario.task("worker:1");
  scenario.crash([scenario.container(1, { containerId })]);
  const effects = scenario.ready("worker:1", { generation: 2 });
  expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
  expect(scenario.task("worker:1")).toMatchObject({ generation: 3, restarts: 1 });
  expect(scenario.task("worker:0")).toMatchObject({ phase: "starting", generation: 1 });
});

test("an executor that names another task than the one that its container is held for is told to end, and changes nothing", () => {
  const scenario = running();
  const { containerId } = scenario.task("worker:1");
  scenario.breaks("worker:1");
  const effects = scenario.on({
    ...{ type: "executor-registered", task: "worker:0", containerId, generation: 1, host: "n2", port: 9 },
    ...{ tensorboardPort: 0, rejoinAddress: "n2:99", child: { state: "exited", exit: childExit(scenario.nowMs, {}) } },
  });
  expect(effects.filter(({ type }) => type === "send")).toMatchObject([
    { to: { task: "worker:0", containerId }, message: { type: "exit", graceMs: 0, reason: { code: "replaced" } } },
  ]);
  expect(scenario.phases()).toBe("worker:0 running, worker:1 running");
  expect(scenario.core.state.containers[containerId]).toMatchObject({ link: "broken", rejoinAddress: "n2:9" });
});
