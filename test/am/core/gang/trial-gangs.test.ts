import { describe, expect, test } from "@jest/globals";
import { retriesOf, trialOf } from "../../../../am/core/policies/trials.ts";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { searchFiles } from "../../../../am/core/status/search-files.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario } from "../scenario.ts";

const search: Search = {
  ...searchOf({ x: "float 0 1" }),
  algorithm: "random",
  maxTrials: 4,
  maxParallel: 2,
  retries: 2,
};

/** Trials of two workers and a parameter server. */
function spec(change: Partial<Search> = {}): JobSpec {
  const ps = role("ps", 1, { resource: { memoryMiB: 2048, vcores: 1, others: {} } });
  return searchRun(jobSpec([role("worker", 2), ps]), { ...search, ...change });
}

type Start = Extract<Extract<Effect, { type: "send" }>["message"], { type: "start-child" }>;

const starts = (effects: readonly Effect[]) =>
  effects.flatMap((effect): (Start & { readonly task: string })[] =>
    effect.type === "send" && effect.message.type === "start-child"
      ? [{ ...effect.message, task: effect.to.task }]
      : [],
  );

const relaunched = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "relaunch" ? effect.launches.map(({ task }) => task) : []));

const released = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "release" ? effect.containerIds : []));

const stopped = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "send" && effect.message.type === "stop-child" ? [effect.to.task] : []));

const asked = (effects: readonly Effect[]) => asksOf(effects).map(({ role: name, count }) => `${name} × ${count}`);

function reports(scenario: Scenario, task: string, step: number, loss: number, checkpoint?: string): Effect[] {
  const { containerId, generation } = scenario.task(task);
  const saved = checkpoint === undefined ? {} : { checkpoint: { path: checkpoint, step, atMs: scenario.nowMs } };
  const about = { task, containerId, generation, step, atMs: scenario.nowMs };
  return scenario.on({ type: "child-progress", ...about, metrics: { loss }, ...saved });
}

/** The tasks of a trial. */
const tasksOf = (trial: number) => [`worker:${2 * trial}`, `worker:${2 * trial + 1}`, `ps:${trial}`];

/** Two trials run. */
function running(change: Partial<Search> = {}) {
  const scenario = new Scenario(spec(change));
  scenario.register();
  scenario.allocateAll();
  const first = starts(scenario.readyAll());
  scenario.startedAll();
  return { scenario, first };
}

/** All workers of a trial exit with 0, and its parameter server stops. */
function ends(scenario: Scenario, trial: number, loss = 0.5): Effect[] {
  const [one = "", other = "", ps = ""] = tasksOf(trial);
  reports(scenario, one, 1, loss);
  return [...scenario.exits(one), ...scenario.exits(other), ...scenario.stops(ps)];
}

const stateOf = (scenario: Scenario, trial: number) => trialOf(scenario.task(`worker:${2 * trial}`)).state;

describe("trials of several tasks", () => {
  test("are gangs, as many as may run at once, each with one cluster spec and one set of parameters", () => {
    const scenario = new Scenario(spec());
    expect(asked(scenario.register())).toEqual(["worker × 4", "ps × 2"]);
    scenario.allocateAll();
    const first = starts(scenario.readyAll());
    for (const trial of [0, 1]) {
      const own = first.filter(({ task }) => tasksOf(trial).includes(task));
      expect(own.map(({ task }) => task)).toEqual(tasksOf(trial));
      expect(own.map(({ clusterSpec }) => clusterSpec.tasks.map(({ task }) => task))).toEqual([
        tasksOf(trial),
        tasksOf(trial),
        tasksOf(trial),
      ]);
      expect(new Set(own.map(({ trialParams }) => trialParams)).size).toBe(1);
    }
    expect(new Set(first.map(({ trialParams }) => trialParams)).size).toBe(2);
  });

  test("hand their containers to the next trial, and give them back when none waits", () => {
    const { scenario } = running();
    const [, , third] = [scenario.exits("worker:0"), scenario.exits("worker:1"), scenario.stops("ps:0")];
    expect(stateOf(scenario, 0)).toBe("failed");
    expect(relaunched(scenario.effects)).toEqual(["worker:4", "worker:5", "ps:2"]);
    expect(relaunched(third ?? [])).toEqual(["ps:2"]);
    scenario.readyAll();
    scenario.startedAll();
    ends(scenario, 1);
    expect(asked(scenario.effects.slice(1))).toEqual(["worker × 4", "ps × 2"]);
    scenario.readyAll();
    scenario.startedAll();
    expect(released(ends(scenario, 2))).toEqual(["c1", "c2", "c5"]);
    ends(scenario, 3);
    expect(scenario.job.outcome).toMatchObject({ result: "succeeded", summary: "4 trials: 3 completed, 1 failed" });
  });

  test("have ended when their lead has, however long the other tasks take", () => {
    const { scenario } = running();
    reports(scenario, "worker:0", 1, 0.5);
    scenario.exits("worker:0");
    const endedAtMs = scenario.nowMs;
    scenario.after(10_000);
    scenario.exits("worker:1");
    scenario.stops("ps:0");
    expect(scenario.task("worker:0")).toMatchObject({ trialOver: true, endedAtMs });
  });

  test("begin when the journal knows that the earlier ones have ended", () => {
    const { scenario } = running();
    scenario.journalAnswers = false;
    ends(scenario, 0);
    const begun = () => scenario.core.state.gangs.filter(({ generation }) => generation > 0).length;
    expect(begun()).toBe(2);
    scenario.on({ type: "journal-written", sequence: scenario.core.state.journal.inFlight });
    expect(begun()).toBe(3);
  });

  test("count as started again once for each earlier failure, without the last one", () => {
    const { scenario } = running({ retries: 1, maxParallel: 1 });
    for (const life of [1, 2]) {
      scenario.exits("worker:0", { exitCode: life });
      for (const task of ["worker:1", "ps:0"]) if (scenario.task(task).phase === "stopping") scenario.stops(task);
      scenario.after(60_000);
      scenario.allocateAll();
      scenario.readyAll();
      scenario.startedAll();
    }
    expect(stateOf(scenario, 0)).toBe("failed");
    expect(retriesOf(scenario.core, scenario.task("worker:0"))).toBe(1);
  });

  test("keep their containers, for the set time, for trials that may begin or go on", () => {
    const pausing = { stop: "asha-promotion", budget: { min: 1, max: 2, factor: 2 }, maxTrials: 2 } as const;
    const { scenario } = running({ ...pausing, keepIdleMs: 30_000 });
    const stopsAll = (trial: number) => tasksOf(trial).flatMap((task) => scenario.stops(task));
    reports(scenario, "worker:0", 1, 0.5);
    expect(released(stopsAll(0))).toEqual([]);
    reports(scenario, "worker:2", 1, 0.9);
    const over = stopsAll(1);
    expect(stateOf(scenario, 0)).toBe("running");
    expect([asked(over), relaunched(over), scenario.task("ps:0").phase]).toEqual([[], [], "preparing"]);
    expect(released(scenario.after(30_000))).toEqual(["c3", "c4", "c6"]);
  });

  describe("that each miss a container", () => {
    const { gangHoldMs } = spec().timeouts;

    /** Of four trials so many workers have a container, and no parameter server has one. */
    function stuck(workers: number): Scenario {
      const scenario = new Scenario(spec({ maxParallel: 4 }));
      scenario.register();
      const containers = Array.from({ length: workers }, () => scenario.container(1));
      scenario.on({ type: "containers-allocated", containers });
      scenario.readyAll();
      return scenario;
    }

    test("are completed from the first on: the last one gives back as many as the first one lacks, and the others keep theirs and start with what comes", () => {
      const scenario = stuck(8);
      const effects = scenario.after(gangHoldMs / 4);
      expect(released(effects)).toEqual(["c7", "c8"]);
      expect(effects).toContainEqual(
        expect.objectContaining({ event: "gang-returned", message: expect.stringMatching(/^Trial 3 is not complete/) }),
      );
      expect(asked(effects)).toEqual(["ps × 3"]);
      scenario.on({ type: "containers-allocated", containers: [scenario.container(2), scenario.container(2)] });
      expect(starts(scenario.readyAll()).map(({ task }) => task)).toEqual([...tasksOf(0), ...tasksOf(1)]);
    });

    test("wait without asking where they have none, until the others have taken what was given back, and say so", () => {
      const scenario = stuck(4);
      const effects = scenario.after(gangHoldMs / 4);
      expect(released(effects)).toEqual(["c3", "c4"]);
      expect(asked(effects)).toEqual(["worker × 0", "ps × 1"]);
      expect(statusOf(scenario.core, scenario.nowMs).waits).toContainEqual(
        expect.objectContaining({ reason: { code: "pause-of-requests" }, delays: [{ code: "gangs-before" }] }),
      );
      expect(asked(scenario.after(15_000))).toEqual(["worker × 6", "ps × 4"]);
    });

    test("give back from the last one on, the one before it too where that has too little, and the first one only when no other can", () => {
      const scenario = stuck(5);
      expect(released(scenario.after(gangHoldMs / 4))).toEqual(["c5"]);
      expect(released(scenario.after(gangHoldMs / 4))).toEqual(["c3", "c4"]);
      expect(released(scenario.after(gangHoldMs))).toEqual(["c1", "c2"]);
    });
  });

  test("that are over start nothing again, although an earlier attempt had told an executor of another generation", () => {
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1), role("tensorboard", 1)]), search));
    scenario.toRunning();
    scenario.exits("worker:0");
    expect(scenario.phases()).toContain("tensorboard:0 stopping");
    const { containerId } = scenario.task("tensorboard:0");
    scenario.crash([scenario.container(2, { containerId })]);
    scenario.ready("tensorboard:0", { generation: 9 });
    expect(scenario.task("tensorboard:0")).toMatchObject({ phase: "stopped", generation: 1, restarts: 0 });
  });

  test("do not pay for what the trial before did in a container that they took over", () => {
    const { scenario } = running();
    tasksOf(0).map((task) => (task.startsWith("ps") ? scenario.stops(task) : scenario.exits(task)));
    const { containerId } = scenario.task("worker:4");
    scenario.completes(containerId, -104, "is running beyond physical memory limits");
    expect(scenario.core.state.gangs[2]?.charges).toEqual([]);
    expect(asked(scenario.allocateAll())).toEqual([]);
    scenario.readyAll();
    expect(scenario.core.state.gangs[2]).toMatchObject({ phase: "running", generation: 3 });
  });

  test("are all that a search shows: their leads have parameters and values, and their roles have all tasks", () => {
    const { scenario } = running();
    reports(scenario, "worker:1", 3, 0.1);
    reports(scenario, "worker:2", 1, 0.25, "hdfs:///c/1-1");
    const status = statusOf(scenario.core, scenario.nowMs);
    expect(status).toMatchObject({ state: "running", generation: 1, search: { trials: 4 } });
    expect(status.generations).toHaveLength(1);
    expect(status.roles).toMatchObject([
      { name: "worker", instances: 8, allocated: 4, running: 4, ended: 0 },
      { name: "ps", instances: 4, allocated: 2, running: 2, ended: 0 },
    ]);
    expect(status.tasks.flatMap(({ task, trial }) => (trial === undefined ? [] : [[task, trial]]))).toEqual([
      ["worker:0", { state: "running" }],
      ["worker:2", { state: "running", checkpoint: "hdfs:///c/1-1" }],
    ]);
    // What others than the lead report is no value of the trial.
    expect(trialOf(scenario.task("worker:0")).value).toBeUndefined();
    expect(status.waits).toEqual([]);
    const lines = searchFiles(scenario.core, status)?.["trials.jsonl"].trim().split("\n");
    expect(lines?.map((line) => JSON.parse(line))).toMatchObject([
      { number: 0, task: "worker:0" },
      { number: 1, task: "worker:2", value: 0.25, checkpoint: "hdfs:///c/1-1" },
    ]);
  });

  test("stop early as a whole", () => {
    const { scenario } = running({ stop: "asha", budget: { min: 1, max: 4, factor: 2 } });
    expect(stopped(reports(scenario, "worker:0", 1, 0.5))).toEqual([]);
    expect(stopped(reports(scenario, "worker:2", 1, 0.9))).toEqual(tasksOf(1));
    expect(stateOf(scenario, 1)).toBe("stopped");
    // The next one waits for their containers, and asks for none.
    expect(scenario.task("worker:4").phase).toBe("waiting");
    expect(asked(scenario.effects)).toEqual(["worker × 4", "ps × 2"]);
    expect(relaunched(tasksOf(1).flatMap((task) => scenario.stops(task)))).toEqual(["worker:4", "worker:5", "ps:2"]);
  });

  test("pause as a whole, and go on from their checkpoint with the parameters that they had", () => {
    const promotion = { stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 2 } as const;
    const { scenario, first } = running(promotion);
    expect(stopped(reports(scenario, "worker:0", 1, 0.5, "hdfs:///c/0-1"))).toEqual(tasksOf(0));
    expect(stateOf(scenario, 0)).toBe("paused");
    tasksOf(0).map((task) => scenario.stops(task));
    expect(scenario.core.state.containers.c1?.phase).toBe("discarded");
    expect(stopped(reports(scenario, "worker:2", 1, 0.9))).toEqual(tasksOf(1));
    // The best of two goes on.
    expect(stateOf(scenario, 0)).toBe("running");
    expect(relaunched(tasksOf(1).flatMap((task) => scenario.stops(task)))).toEqual(["worker:0", "worker:1", "ps:0"]);
    const again = starts(scenario.readyAll());
    expect(again.map(({ task }) => task)).toEqual(tasksOf(0));
    expect(new Set(again.map(({ checkpoint }) => checkpoint))).toEqual(new Set(["hdfs:///c/0-1"]));
    expect(again[0]?.trialParams).toBe(first[0]?.trialParams);
    scenario.startedAll();
    ends(scenario, 0);
    expect(scenario.job.outcome?.summary).toBe("2 trials: 1 completed, 1 paused");
  });

  test("that pause while a failure of theirs is judged still have their restarts when they go on", () => {
    const { scenario } = running({ stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 2 });
    scenario.exits("worker:1", { exitCode: 1 });
    expect(scenario.core.state.gangs[0]?.charges).toHaveLength(1);
    reports(scenario, "worker:0", 1, 0.5);
    expect(stateOf(scenario, 0)).toBe("paused");
    expect(scenario.core.state.gangs[0]?.charges).toEqual([]);
  });

  test("that go on before their programs have stopped do so in their own containers", () => {
    const promotion = { stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 2 } as const;
    const { scenario } = running(promotion);
    reports(scenario, "worker:0", 1, 0.5);
    reports(scenario, "worker:2", 1, 0.9);
    expect(stateOf(scenario, 0)).toBe("running");
    tasksOf(0).map((task) => scenario.stops(task));
    expect(starts(scenario.readyAll()).map(({ task }) => task)).toEqual(tasksOf(0));
    expect(scenario.task("worker:0").containerId).toBe("c1");
  });

  test("that are to go on wait until their executors have uploaded everything", () => {
    const promotion = { stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 2 } as const;
    const carrier = { output: { localDir: "results", dir: "hdfs:///r" }, outputRequired: false, timeoutMs: 60_000 };
    const scenario = new Scenario({ ...spec(promotion), carrier });
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    reports(scenario, "worker:0", 1, 0.5);
    tasksOf(0).map((task) => scenario.stops(task));
    reports(scenario, "worker:2", 1, 0.9);
    expect(stateOf(scenario, 0)).toBe("paused");
    expect(scenario.job.outcome).toBeUndefined();
    for (const task of tasksOf(0)) {
      scenario.completes(scenario.task(task).containerId, 0);
    }
    expect(stateOf(scenario, 0)).toBe("running");
  });

  test("start again as a whole when one of their programs fails: in another container, then on another node; then the trial has failed, and the search goes on", () => {
    const { scenario, first } = running();
    const fails = () => {
      scenario.exits("worker:1", { exitCode: 1 });
      const gone = ["worker:0", "ps:0"].flatMap((task) => scenario.stops(task));
      scenario.after(20_000);
      scenario.allocateAll();
      return gone;
    };
    fails();
    expect(released(scenario.effects)).toEqual(["c2"]);
    const again = starts(scenario.readyAll());
    expect(again.map(({ task, restarts }) => [task, restarts])).toEqual([
      ["worker:0", 1],
      ["worker:1", 1],
      ["ps:0", 1],
    ]);
    expect(again[0]?.trialParams).toBe(first[0]?.trialParams);
    scenario.startedAll();
    const { host } = scenario.task("worker:1");
    fails();
    expect(scenario.task("worker:1").trialAvoids).toBe(host);
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:1", { exitCode: 1 });
    ["worker:0", "ps:0"].map((task) => scenario.stops(task));
    expect(stateOf(scenario, 0)).toBe("failed");
    expect(scenario.task("worker:0").trialFailure).toMatchObject({
      words: expect.stringMatching(/^worker:1 exited 1/),
    });
    expect(scenario.core.state.gangs[2]?.phase).toBe("gathering");
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]).toMatchObject({ restarts: 2 });
    expect(scenario.job.outcome).toBeUndefined();
  });

  test("that must go to another node get no container on it that another trial can have", () => {
    const { scenario } = running();
    const fails = () => {
      scenario.exits("worker:1", { exitCode: 1 });
      for (const task of ["worker:0", "ps:0"]) scenario.stops(task);
      scenario.after(20_000);
    };
    fails();
    const { host, containerId } = scenario.task("worker:2");
    const elsewhere = scenario.task("worker:3").containerId;
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host })] });
    scenario.readyAll();
    scenario.startedAll();
    fails();
    expect(scenario.task("worker:1").trialAvoids).toBe(host);
    ends(scenario, 1);
    const { containers } = scenario.core.state;
    expect([containers[containerId]?.task, containers[elsewhere]?.task]).toEqual(["worker:4", "worker:1"]);
  });

  test("that lose a container for a reason that does not count start again and keep their restarts", () => {
    const { scenario } = running({ retries: 0 });
    scenario.completes(scenario.task("worker:3").containerId, -100);
    ["worker:2", "ps:1"].map((task) => scenario.stops(task));
    scenario.after(1_000);
    scenario.allocateAll();
    expect(starts(scenario.readyAll()).map(({ task }) => task)).toEqual(tasksOf(1));
    expect(stateOf(scenario, 1)).toBe("running");
  });

  test("keep their restarts when a program failed because another one's container was taken", () => {
    const { scenario } = running();
    scenario.exits("worker:2", { exitCode: 1, peerConnectionLost: true });
    scenario.stops("ps:1");
    expect(retriesOf(scenario.core, scenario.task("worker:2"))).toBe(1);
    scenario.completes(scenario.task("worker:3").containerId, -102);
    expect(retriesOf(scenario.core, scenario.task("worker:2"))).toBe(0);
  });

  test("whose container YARN ended for its memory report that as the reason for starting again, as soon as it is known", () => {
    const { scenario } = running();
    const { containerId, host } = scenario.task("worker:1");
    const stopReason = { code: "container-terminated" } as const;
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason });
    scenario.on({ type: "executor-lost", task: "worker:1", containerId, cause: "goodbye" });
    scenario.stops("worker:0");
    scenario.stops("ps:0");
    expect(scenario.task("worker:0").restartReason).toContain("YARN has not said why");
    scenario.completes(containerId, -104);
    expect(scenario.task("worker:0").restartReason).toBe(`worker:1 ran out of memory on ${host}`);
  });

  test("count as started again no more often than they were, however many containers are lost before a start", () => {
    const { scenario } = running();
    scenario.exits("worker:2", { exitCode: 1 });
    ["worker:3", "ps:1"].map((task) => scenario.stops(task));
    scenario.completes(scenario.task("worker:3").containerId, -103);
    expect(scenario.task("worker:2").restarts).toBe(1);
    expect(retriesOf(scenario.core, scenario.task("worker:2"))).toBe(1);
  });

  test("end the search when the first five fail the same way", () => {
    const { scenario } = running({ retries: 0, maxTrials: 9, maxParallel: 1 });
    for (let trial = 0; trial < 5; trial += 1) {
      expect(scenario.job.outcome).toBeUndefined();
      const [one = "", other = "", ps = ""] = tasksOf(trial);
      scenario.exits(one, { exitCode: 1 });
      [other, ps].map((task) => scenario.stops(task));
      scenario.readyAll();
      scenario.startedAll();
    }
    expect(scenario.job.outcome).toMatchObject({
      result: "failed",
      reason: { code: "trials-failed-alike", trials: 5 },
    });
  });

  test("go on under the next attempt, including one that is to stop", () => {
    const { scenario } = running({ stop: "asha", budget: { min: 1, max: 4, factor: 2 } });
    reports(scenario, "worker:0", 1, 0.5);
    reports(scenario, "worker:2", 1, 0.9);
    const kept = [0, 1].flatMap((trial) => {
      return tasksOf(trial).map((task) => scenario.container(1, { containerId: scenario.task(task).containerId }));
    });
    scenario.crash(kept);
    expect(stateOf(scenario, 0)).toBe("running");
    expect(stateOf(scenario, 1)).toBe("stopped");
    expect(stopped(scenario.reports("worker:2", { state: "running", pid: 7, startedAtMs: 1 }))).toEqual(["worker:2"]);
    expect(relaunched(scenario.stops("worker:2"))).toEqual(["worker:4"]);
  });

  test("of an earlier search are as they were: interrupted ones run first, from their checkpoint", () => {
    const before = [
      { params: { x: 0.1 }, state: "completed", value: 0.5 },
      { params: { x: 0.2 }, state: "interrupted", checkpoint: "hdfs:///c/1", checkpointStep: 3 },
    ] as const;
    const scenario = new Scenario(spec({ before, maxParallel: 1 }));
    expect(asked(scenario.register())).toEqual(["worker × 2", "ps × 1"]);
    scenario.allocateAll();
    expect(stateOf(scenario, 0)).toBe("completed");
    const first = starts(scenario.readyAll());
    expect(first.map(({ task, trialParams, checkpoint }) => [task, trialParams, checkpoint])).toEqual(
      tasksOf(1).map((task) => [task, '{"x":0.2}', "hdfs:///c/1"]),
    );
  });

  test("may wait for containers as long as others run, and fail the search where none ever had all of its own", () => {
    const { timeouts } = jobSpec([]);
    const limited = { ...spec(), timeouts: { ...timeouts, allocationMs: 60_000 } };
    const scenario = new Scenario(limited);
    scenario.register();
    const given = [1, 1, 2].map((priority) => scenario.container(priority));
    scenario.on({ type: "containers-allocated", containers: given });
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(120_000);
    expect(scenario.job.outcome).toBeUndefined();
    const alone = new Scenario(limited);
    alone.register();
    alone.after(61_000);
    expect(alone.job.outcome).toMatchObject({ result: "failed", reason: { code: "allocation-too-long" } });
  });

  test("fail alone when machines refuse one of their tasks again and again", () => {
    const scenario = new Scenario(spec());
    scenario.register();
    scenario.allocateAll();
    for (let times = 0; stateOf(scenario, 0) === "running" && times < 5; times += 1) {
      const { containerId } = scenario.task("worker:0");
      scenario.on({ type: "launch-failed", containerId, message: "no disk is left", nodeAtFault: true });
      scenario.after(1_000);
      scenario.allocateAll();
    }
    expect(stateOf(scenario, 0)).toBe("failed");
    expect(scenario.job.outcome).toBeUndefined();
    expect(scenario.core.state.gangs.map(({ phase }) => phase)).toEqual(["done", "gathering", "gathering", "ahead"]);
  });

  test("wait for room without asking the cluster for more than may run, and give back what they get beyond that", () => {
    const scenario = new Scenario(spec());
    scenario.register();
    const given = Array.from({ length: 5 }, () => scenario.container(1));
    expect(released(scenario.on({ type: "containers-allocated", containers: given }))).toEqual(["c5"]);
    // The first trial has its workers before the second has one.
    expect(["worker:0", "worker:1", "worker:2"].map((task) => scenario.task(task).containerId)).toEqual([
      "c1",
      "c2",
      "c3",
    ]);
  });
});
