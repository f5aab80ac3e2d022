import { describe, expect, test } from "@jest/globals";
import {
  about,
  begunGangs,
  containerOf,
  findTask,
  gangOf,
  inJob,
  log,
  newStep,
  presentGang,
  record,
  roleOf,
  rolesOf,
  tasksOf,
  tenantOf,
} from "../../../../am/core/state/step.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const spec = jobSpec([role("prep", 1), role("worker", 2, { dependsOn: ["prep"] })]);

/** A job whose first stage runs, and a step of it. */
function prepRuns() {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  const { state } = scenario.core;
  const { applicationId, attempt, amHost, amContainerId, startedAtMs } = state;
  const identity = { applicationId, attempt, amHost, amContainerId, startedAtMs, nodeHeartbeatMs: 1_000 };
  const step = newStep(spec, identity, state, "throw");
  const { c1 } = state.containers;
  if (c1 === undefined) {
    throw new Error("the first stage has no container");
  }
  return { scenario, step, state, c1, prep: scenario.task("prep:0") };
}

describe("the tenant of a container", () => {
  test("is the task that it is held for, and whose container it is", () => {
    const { step, c1, prep } = prepRuns();
    expect(tenantOf(step, c1)).toBe(prep);
    expect(containerOf(step, prep)).toBe(c1);
  });

  test("is nobody once the container goes back, or the task has another one", () => {
    const { step, c1, prep } = prepRuns();
    prep.containerId = "c9";
    expect(tenantOf(step, c1)).toBeUndefined();
    expect(containerOf(step, prep)).toBeUndefined();
    prep.containerId = "c1";
    c1.phase = "terminating";
    expect(tenantOf(step, c1)).toBeUndefined();
  });
});

test("tasks are found by their names, and have their roles and gangs", () => {
  const { step, state, prep, scenario } = prepRuns();
  const worker = scenario.task("worker:1");
  const [first, second] = state.gangs;
  expect(findTask(step, "worker:1")).toBe(worker);
  expect(findTask(step, "worker:2")).toBeUndefined();
  expect([gangOf(step, prep), gangOf(step, worker)]).toEqual([first, second]);
  expect(state.gangs.map((gang) => tasksOf(step, gang).map(({ id }) => id))).toEqual([
    ["prep:0"],
    ["worker:0", "worker:1"],
  ]);
  expect(state.gangs.map((gang) => rolesOf(step, gang).map(([position, { name }]) => [position, name]))).toEqual([
    [[0, "prep"]],
    [[1, "worker"]],
  ]);
  expect(() => gangOf(step, { role: 7 })).toThrow("no gang for the role at position 7");
});

test("gangs begin with their turn, and the one that began last is the present one", () => {
  const { scenario, step, state } = prepRuns();
  expect(begunGangs(step).map(({ position }) => position)).toEqual([0]);
  expect(presentGang(step)?.position).toBe(0);
  scenario.exits("prep:0");
  expect(begunGangs(step).map(({ position }) => position)).toEqual([0, 1]);
  expect(presentGang(step)?.position).toBe(1);
  for (const gang of state.gangs) gang.generation = 0;
  expect(presentGang(step)).toBeUndefined();
});

test("a role of a trial is one of the job's, in the size that its containers have", () => {
  const { step, state } = prepRuns();
  expect([0, 1, 2, 3].map((position) => inJob(step, position))).toEqual([0, 1, 0, 1]);
  const given = { memoryMiB: 2048, vcores: 2, others: {} };
  const [, ofWorkers] = state.roles;
  Object.assign(ofWorkers ?? {}, { given });
  expect(roleOf(step, { role: 3 })).toMatchObject({ name: "worker", resource: given });
  expect(roleOf(step, { role: 2 })).toMatchObject({ name: "prep", resource: { memoryMiB: 1024 } });
});

describe("the history", () => {
  test("has what happened to a task with its container and its life", () => {
    const { step, prep } = prepRuns();
    step.nowMs = 5;
    record(step, { type: "task-started", host: "n1" }, prep);
    expect(step.effects).toEqual([
      {
        type: "record",
        event: { type: "task-started", host: "n1", atMs: 5, task: "prep:0", containerId: "c1", generation: 1 },
      },
    ]);
  });

  test("has what happened to the job under its present generation, or none", () => {
    const { step, state, prep } = prepRuns();
    step.nowMs = 5;
    record(step, { type: "task-started", host: "n1" });
    for (const gang of state.gangs) gang.generation = 0;
    record(step, { type: "task-started", host: "n1" }, { id: prep.id, containerId: "" });
    expect(step.effects).toEqual([
      { type: "record", event: { type: "task-started", host: "n1", atMs: 5, generation: 1 } },
      { type: "record", event: { type: "task-started", host: "n1", atMs: 5, task: "prep:0", generation: 0 } },
    ]);
  });
});

test("a line of the log names a task by itself, its container and its life", () => {
  const { step, prep } = prepRuns();
  log(step, "info", "greeting", "hello", about(prep));
  log(step, "warn", "greeting", "hello");
  expect(step.effects).toEqual([
    {
      ...{ type: "log", level: "info", event: "greeting", message: "hello" },
      fields: { task: "prep:0", container: "c1", generation: 1 },
    },
    { type: "log", level: "warn", event: "greeting", message: "hello" },
  ]);
});
