import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);
const gang = { ...base, failure: { ...base.failure, budgets: { program: 5, infrastructure: 5 } } };
const single = { ...gang, roles: [role("worker", 1)] };

function running(spec = gang): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  return scenario;
}

function saves(scenario: Scenario, task: string, step: number, path: string, life: { generation?: number } = {}): void {
  const { containerId, generation } = scenario.task(task);
  const checkpoint = { path, step, atMs: scenario.nowMs };
  const atMs = scenario.nowMs;
  scenario.on({ type: "child-progress", task, containerId, generation, ...life, step, atMs, checkpoint });
}

/** One fails, the rest are stopped, all make ready again in whatever containers they have. */
function restarts(scenario: Scenario, failing: string): Effect[] {
  scenario.exits(failing, { exitCode: 1 });
  for (const { id, phase } of scenario.core.state.tasks) if (phase === "stopping") scenario.stops(id);
  return [...scenario.allocateAll(), ...scenario.readyAll()];
}

/** What each program is told to go on from. */
function told(effects: readonly Effect[]): Record<string, string> {
  return Object.fromEntries(
    effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child"
        ? [[effect.to.task, effect.message.checkpoint]]
        : [],
    ),
  );
}

function dropped(scenario: Scenario): string[] {
  return scenario.effects.flatMap((effect) =>
    effect.type === "log" && effect.event === "checkpoint-dropped" ? [effect.message] : [],
  );
}

describe("the checkpoint from which a restarted gang goes on", () => {
  test("is the shared one, the same for every task, even for one that is told late", () => {
    const scenario = running();
    saves(scenario, "worker:0", 40, "hdfs:///ckpt/40");
    const effects = restarts(scenario, "worker:1");
    expect(told(effects)).toEqual({ "worker:0": "hdfs:///ckpt/40", "worker:1": "hdfs:///ckpt/40" });
    saves(scenario, "worker:0", 50, "hdfs:///ckpt/50");
    expect(told(scenario.reports("worker:1", { state: "none" }))).toEqual({ "worker:1": "hdfs:///ckpt/40" });
  });

  test("may be one that was uploaded after its program had ended", () => {
    const scenario = running();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    saves(scenario, "worker:0", 40, "hdfs:///ckpt/40", { generation: 1 });
    expect(told(scenario.readyAll())).toMatchObject({ "worker:0": "hdfs:///ckpt/40" });
    expect(statusOf(scenario.core, scenario.nowMs)).toMatchObject({
      generations: [{}, { resumedFrom: { step: 40 } }],
      tasks: [{ task: "worker:0" }, { task: "worker:1" }],
    });
    expect(scenario.task("worker:0").step).toBe(0);
  });

  test("counts none that an earlier life kept in its container, nor is the present one that far", () => {
    const scenario = running();
    restarts(scenario, "worker:1");
    scenario.startedAll();
    saves(scenario, "worker:0", 45, "/work/container_1/step-45.pt", { generation: 1 });
    saves(scenario, "worker:0", 40, "hdfs:///ckpt/40", { generation: 1 });
    expect(scenario.task("worker:0").checkpointStep).toBe(0);
    expect(scenario.core.state.containers.c1?.checkpoint).toBeUndefined();
    expect(statusOf(scenario.core, scenario.nowMs).checkpoint).toMatchObject({ step: 40 });
  });

  test("that a container keeps goes with it, which is told as how it went", () => {
    const lost = running();
    saves(lost, "worker:0", 45, "/work/container_1/step-45.pt");
    lost.on({ type: "executor-lost", task: "worker:0", containerId: "c1", cause: "goodbye" });
    expect(dropped(lost)).toEqual([expect.stringContaining("does not count, its container is gone: /work/")]);
    const given = running();
    saves(given, "worker:0", 45, "/work/container_1/step-45.pt");
    given.vanishes("worker:0");
    expect(dropped(given)).toEqual([expect.stringContaining("does not count, its container is given up: /work/")]);
  });

  test("is never one that only one container can read: that one is dropped, and the log and the status say so", () => {
    const scenario = running();
    saves(scenario, "worker:0", 45, "/work/container_1/step-45.pt");
    expect(statusOf(scenario.core, scenario.nowMs).checkpoint).toBeUndefined();
    expect(told(restarts(scenario, "worker:1"))).toEqual({ "worker:0": "", "worker:1": "" });
    expect(dropped(scenario)).toEqual([
      expect.stringMatching(/step 45 that worker:0 keeps in its container.*local-dir/),
    ]);
    const status = statusOf(scenario.core, scenario.nowMs);
    expect(status.generations[1]).not.toHaveProperty("resumedFrom");
    expect(status.droppedCheckpoint).toMatchObject({ task: "worker:0", step: 45 });
    saves(scenario, "worker:0", 60, "hdfs:///ckpt/60");
    expect(statusOf(scenario.core, scenario.nowMs)).not.toHaveProperty("droppedCheckpoint");
  });

  test("is each task's own one of the same step, when all tasks are still in the containers that have them", () => {
    const scenario = running();
    saves(scenario, "worker:0", 45, "/work/c1/45");
    saves(scenario, "worker:1", 45, "/work/c2/45");
    expect(told(restarts(scenario, "worker:1"))).toEqual({ "worker:0": "/work/c1/45", "worker:1": "/work/c2/45" });
    expect(statusOf(scenario.core, scenario.nowMs).generations[1]).toMatchObject({ resumedFrom: { step: 45 } });
    expect(dropped(scenario)).toEqual([]);
  });

  test("is the shared one where the tasks' own ones are no further", () => {
    const scenario = running();
    saves(scenario, "worker:0", 45, "/work/c1/45");
    saves(scenario, "worker:1", 45, "/work/c2/45");
    saves(scenario, "worker:0", 45, "hdfs:///ckpt/45");
    const shared = { "worker:0": "hdfs:///ckpt/45", "worker:1": "hdfs:///ckpt/45" };
    expect(told(restarts(scenario, "worker:1"))).toEqual(shared);
    expect(dropped(scenario)).toEqual([]);
  });

  test("is the one saved last where two have the same step, and never one of an earlier step", () => {
    const scenario = running();
    saves(scenario, "worker:0", 40, "hdfs:///ckpt/40");
    scenario.nowMs += 1_000;
    saves(scenario, "worker:1", 40, "hdfs:///ckpt/40-again");
    saves(scenario, "worker:0", 39, "hdfs:///ckpt/39");
    expect(told(restarts(scenario, "worker:1"))).toEqual({
      "worker:0": "hdfs:///ckpt/40-again",
      "worker:1": "hdfs:///ckpt/40-again",
    });
  });

  test("is told as dropped once, where two tasks keep one of the same step", () => {
    const scenario = running();
    saves(scenario, "worker:0", 45, "/work/c1/45");
    saves(scenario, "worker:1", 45, "/work/c2/45");
    for (const containerId of ["c1", "c2"]) scenario.completes(containerId, -100);
    expect(dropped(scenario)).toEqual([expect.stringContaining("that worker:0 keeps in its container")]);
    expect(statusOf(scenario.core, scenario.nowMs).droppedCheckpoint).toMatchObject({ task: "worker:0", step: 45 });
  });

  test("is the shared one when only some tasks have a further one of their own", () => {
    const scenario = running();
    saves(scenario, "worker:0", 40, "hdfs:///ckpt/40");
    saves(scenario, "worker:0", 45, "/work/c1/45");
    expect(told(restarts(scenario, "worker:1"))).toEqual({
      "worker:0": "hdfs:///ckpt/40",
      "worker:1": "hdfs:///ckpt/40",
    });
  });
});

describe("a job that resumes from an earlier one", () => {
  const earlier = "hdfs:///ckpt/of-another/1800";
  const started = () => running({ ...gang, resumeFrom: earlier });

  test("begins with the earlier job's checkpoint, in every generation until it has one of its own", () => {
    const scenario = started();
    expect(told(scenario.effects)).toEqual({ "worker:0": earlier, "worker:1": earlier });
    expect(told(restarts(scenario, "worker:1"))).toEqual({ "worker:0": earlier, "worker:1": earlier });
    expect(statusOf(scenario.core, scenario.nowMs)).toMatchObject({ resumeFrom: earlier });
  });

  test("goes on from its own checkpoint, however few steps that has", () => {
    const scenario = started();
    saves(scenario, "worker:0", 5, "hdfs:///ckpt/5");
    expect(told(restarts(scenario, "worker:1"))).toEqual({
      "worker:0": "hdfs:///ckpt/5",
      "worker:1": "hdfs:///ckpt/5",
    });
  });
});

describe("a checkpoint in a container", () => {
  test("is the one from which a single task goes on in the same container", () => {
    const scenario = running(single);
    saves(scenario, "worker:0", 45, "checkpoints/step-45.pt");
    expect(told(restarts(scenario, "worker:0"))).toEqual({ "worker:0": "checkpoints/step-45.pt" });
  });

  test("is dropped when the container is lost", () => {
    const scenario = running(single);
    saves(scenario, "worker:0", 45, "checkpoints/step-45.pt");
    const { containerId } = scenario.task("worker:0");
    scenario.completes(containerId, -100);
    expect(told([...scenario.allocateAll(), ...scenario.readyAll()])).toEqual({ "worker:0": "" });
    expect(dropped(scenario)).toHaveLength(1);
  });

  test("is dropped at the job's end: the status names no file that no longer exists", () => {
    const scenario = running(single);
    saves(scenario, "worker:0", 225, "checkpoints/step-225.pt");
    scenario.exits("worker:0");
    const status = statusOf(scenario.core, scenario.nowMs);
    expect(status.outcome?.result).toBe("succeeded");
    expect(status).not.toHaveProperty("checkpoint");
    expect(status.tasks[0]).not.toHaveProperty("checkpointStep");
    expect(status.droppedCheckpoint).toMatchObject({ task: "worker:0", step: 225 });
  });
});
