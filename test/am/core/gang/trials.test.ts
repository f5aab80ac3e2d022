import { describe, expect, test } from "@jest/globals";
import { trialOf, trialToPropose } from "../../../../am/core/policies/trials.ts";
import type { Effect } from "../../../../am/core/state/effects.ts";
import type { ChildExit } from "../../../../am/core/state/events.ts";
import { trialLines } from "../../../../am/core/status/search-files.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { asksOf, idleNode, Scenario } from "../scenario.ts";

const search: Search = { ...searchOf({ x: "float 0 1" }), algorithm: "random", maxTrials: 5, maxParallel: 2 };

function spec(change: Partial<Search> = {}): JobSpec {
  const job = jobSpec([role("worker", 1)]);
  const failure = { ...job.failure, budgets: { program: 0, infrastructure: 20 } };
  return searchRun({ ...job, failure }, { ...search, ...change });
}

/** What the programs that start are given. */
const started = (effects: readonly Effect[]): readonly [task: string, params: unknown][] =>
  effects.flatMap((effect): [string, unknown][] =>
    effect.type === "send" && effect.message.type === "start-child"
      ? [[effect.to.task, JSON.parse(effect.message.trialParams ?? "null")]]
      : [],
  );

const relaunched = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "relaunch" ? effect.launches.map(({ task }) => task) : []));

const released = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "release" ? effect.containerIds : []));

const askedOf = (effects: readonly Effect[]) => asksOf(effects).map(({ count }) => count);

/** A trial reports its loss at a step. */
function reports(scenario: Scenario, task: string, step: number, loss: number, checkpoint?: string): Effect[] {
  const { containerId, generation } = scenario.task(task);
  const atMs = scenario.nowMs;
  const saved = checkpoint === undefined ? {} : { checkpoint: { path: checkpoint, step, atMs } };
  return scenario.on({
    type: "child-progress",
    ...{ task, containerId, generation, step, atMs, metrics: { loss }, ...saved },
  });
}

const stopped = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "send" && effect.message.type === "stop-child" ? [effect.to.task] : []));

const asha = { stop: "asha", budget: { min: 1, max: 4, factor: 2 } } as const;

/** Two trials run. */
function running(change: Partial<Search> = {}) {
  const scenario = new Scenario(spec(change));
  scenario.register();
  scenario.allocateAll();
  const first = started([...scenario.ready("worker:0"), ...scenario.ready("worker:1")]);
  scenario.startedAll();
  return { scenario, first };
}

describe("trials of a search", () => {
  test("ask for as many containers as may run at once; a container goes from one trial to the next, and back when none waits", () => {
    const scenario = new Scenario(spec());
    expect(askedOf(scenario.register())).toEqual([2]);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(relaunched(scenario.exits("worker:0"))).toEqual(["worker:2"]);
    expect(relaunched(scenario.exits("worker:1"))).toEqual(["worker:3"]);
    scenario.ready("worker:2");
    scenario.ready("worker:3");
    scenario.startedAll();
    expect(relaunched(scenario.exits("worker:2"))).toEqual(["worker:4"]);
    expect(released(scenario.exits("worker:3"))).toEqual(["c2"]);
    scenario.ready("worker:4");
    scenario.startedAll();
    reports(scenario, "worker:4", 1, 0.5);
    scenario.exits("worker:4");
    expect(scenario.job).toMatchObject({
      outcome: {
        result: "succeeded",
        summary: "5 trials: 1 completed, 4 failed",
        reason: { code: "trials-ended", completed: 1, stopped: 0, failed: 4, again: 0 },
      },
    });
  });

  test("have no more containers than may run at once, however many are given", () => {
    const scenario = new Scenario(spec());
    scenario.register();
    const given = [1, 2, 3].map(() => scenario.container(1));
    expect(released(scenario.on({ type: "containers-allocated", containers: given }))).toEqual(["c3"]);
  });

  test("start on no node that is leaving: a trial that was handed such a container before the attempt died runs in another one", () => {
    const { scenario } = running();
    scenario.exits("worker:0");
    scenario.after(1_000);
    const kept = Object.values(scenario.core.state.containers);
    const { host } = kept.find(({ task }) => task === "worker:2") ?? {};
    const node = { ...idleNode(host ?? ""), usable: false, decommissioning: { timeoutMs: 60_000 } };
    const effects = scenario.crash(
      kept.map(({ id }) => scenario.container(1, { containerId: id })),
      [{ type: "nodes-changed", nodes: [node] }],
    );
    expect(relaunched(effects)).toEqual([]);
    expect(askedOf(effects)).toEqual([1]);
    expect(scenario.task("worker:2").phase).toBe("waiting");
  });

  test("have their parameters in the journal before they start, and keep them in another container and under another attempt", () => {
    const { scenario, first } = running();
    expect(first.map(([task]) => task)).toEqual(["worker:0", "worker:1"]);
    expect(new Set(first.map(([, params]) => JSON.stringify(params))).size).toBe(2);
    scenario.exits("worker:0");
    scenario.journalWorks = false;
    expect(started(scenario.ready("worker:2"))).toEqual([]);
    scenario.journalWorks = true;
    const [third] = started(scenario.after(1_000));
    expect(third?.[0]).toBe("worker:2");
    scenario.startedAll();
    const { containerId } = scenario.task("worker:2");
    scenario.completes(containerId, -100);
    scenario.after(60_000);
    scenario.allocateAll();
    expect(started(scenario.ready("worker:2"))).toEqual([third]);
    scenario.startedAll();
    const kept = ["worker:1", "worker:2"].map((task) =>
      scenario.container(1, { containerId: scenario.task(task).containerId }),
    );
    scenario.crash(kept);
    expect(scenario.core.state.tasks[2]?.trialParameters).toEqual(third?.[1]);
  });

  test("learn from what earlier trials reported, and not from what failed", () => {
    const tpe = { algorithm: "tpe", maxTrials: 14 } as const;
    const proposals = (value: (trial: number) => number) => {
      const { scenario, first } = running(tpe);
      const all = [...first];
      for (let trial = 0; trial < 12; trial += 1) {
        const { containerId, generation } = scenario.task(`worker:${trial}`);
        const metrics = { loss: value(trial) };
        const about = { task: `worker:${trial}`, containerId, generation, step: 1, atMs: scenario.nowMs };
        scenario.on({ type: "child-progress", ...about, metrics });
        scenario.exits(`worker:${trial}`);
        all.push(...started(scenario.ready(`worker:${trial + 2}`)));
        scenario.startedAll();
      }
      return all;
    };
    const upward = proposals((trial) => trial);
    const downward = proposals((trial) => -trial);
    expect(upward.slice(0, 10)).toEqual(downward.slice(0, 10));
    expect(upward.at(-1)).not.toEqual(downward.at(-1));
  });

  test("that are not among the best are stopped, once the journal knows; their containers go to the next ones", () => {
    const { scenario } = running(asha);
    expect(stopped(reports(scenario, "worker:0", 1, 0.5))).toEqual([]);
    scenario.journalWorks = false;
    expect(stopped(reports(scenario, "worker:1", 1, 0.9))).toEqual([]);
    scenario.journalWorks = true;
    expect(stopped(scenario.after(1_000))).toEqual(["worker:1"]);
    expect(relaunched(scenario.stops("worker:1"))).toEqual(["worker:2"]);
    expect(scenario.phases()).toContain("worker:1 stopped");
    expect(stopped(reports(scenario, "worker:0", 1, 7))).toEqual([]);
  });

  test("that are to stop have the value of that decision: later reports decide nothing", () => {
    const { scenario } = running({ ...asha, goal: 0.2 });
    reports(scenario, "worker:0", 1, 0.5);
    expect(stopped(reports(scenario, "worker:1", 1, 0.9))).toEqual(["worker:1"]);
    expect(stopped(reports(scenario, "worker:1", 2, 0.1))).toEqual([]);
    scenario.exits("worker:1", { exitCode: 1 });
    expect(trialOf(scenario.task("worker:1"))).toMatchObject({ state: "stopped", value: 0.9, reports: [{ step: 1 }] });
    expect(statusOf(scenario.core, scenario.nowMs).tasks[1]).toMatchObject({ metrics: { loss: 0.9 } });
    expect(scenario.core.state.outcome).toBeUndefined();
  });

  test("that begin again from a checkpoint are not judged by steps that they report again", () => {
    const { scenario } = running(asha);
    reports(scenario, "worker:0", 1, 0.5);
    reports(scenario, "worker:0", 2, 0.4, "hdfs:///c/2");
    scenario.completes(scenario.task("worker:0").containerId, -100);
    scenario.after(1_000);
    scenario.allocateAll();
    scenario.ready("worker:0");
    scenario.startedAll();
    expect(stopped(reports(scenario, "worker:0", 1, 9))).toEqual([]);
    reports(scenario, "worker:0", 2, 8);
    expect(trialOf(scenario.task("worker:0")).reports).toEqual([
      { step: 1, value: 0.5 },
      { step: 2, value: 0.4 },
    ]);
  });

  test("keep what they reported at a rung, however many reports come after it", () => {
    const { scenario } = running({ stop: "asha", budget: { min: 2, max: 1_000, factor: 4 } });
    for (let step = 1; step <= 400; step += 1) {
      reports(scenario, "worker:0", step, 1 / step);
      expect(trialOf(scenario.task("worker:0")).reports?.at(-1)?.step).toBe(step);
    }
    const { reports: kept = [] } = trialOf(scenario.task("worker:0"));
    expect(kept.length).toBeLessThan(200);
    expect(kept.filter(({ step }) => [2, 8, 32, 128].includes(step)).map(({ step }) => step)).toEqual([2, 8, 32, 128]);
  });

  test("are not judged at a rung by a repeated value of an earlier step", () => {
    const { scenario } = running(asha);
    reports(scenario, "worker:0", 2, 0.5);
    const { containerId, generation } = scenario.task("worker:1");
    const about = { task: "worker:1", containerId, generation, atMs: scenario.nowMs };
    scenario.on({ type: "child-progress", ...about, step: 1, metrics: { loss: 0.4 } });
    const repeated = { step: 2, metrics: { loss: 0.4 }, metricSteps: { loss: 1 } };
    scenario.on({ type: "child-progress", ...about, ...repeated });
    expect(trialOf(scenario.task("worker:1")).reports).toEqual([{ step: 1, value: 0.4 }]);
    expect(stopped(scenario.on({ type: "child-progress", ...about, step: 2, metrics: { loss: 0.6 } }))).toEqual([
      "worker:1",
    ]);
  });

  test.each([
    ["ends well meanwhile", (scenario: Scenario) => scenario.exits("worker:1"), "succeeded"],
    ["fails meanwhile", (scenario: Scenario) => scenario.exits("worker:1", { exitCode: 1 }), "failed"],
    [
      "loses its container",
      (scenario: Scenario) => scenario.completes(scenario.task("worker:1").containerId, -100),
      "lost",
    ],
    ["does not stop in time", (scenario: Scenario) => scenario.after(120_000), "lost"],
  ])("that is to stop and %s is over, too", (_, ends, phase) => {
    const { scenario } = running(asha);
    reports(scenario, "worker:0", 1, 0.5);
    expect(stopped(reports(scenario, "worker:1", 1, 0.9))).toEqual(["worker:1"]);
    ends(scenario);
    expect(scenario.phases()).toContain(`worker:1 ${phase}`);
    scenario.allocateAll();
    scenario.ready("worker:2");
    scenario.startedAll();
    for (const task of ["worker:0", "worker:2"]) scenario.exits(task);
    for (const task of ["worker:3", "worker:4"]) {
      scenario.ready(task);
      scenario.startedAll();
      scenario.exits(task);
    }
    expect(scenario.job).toMatchObject({ outcome: { result: "succeeded" } });
  });

  test("that are to stop are shown as waited for since they were told to", () => {
    const { scenario } = running(asha);
    scenario.after(20_000);
    reports(scenario, "worker:0", 1, 0.5);
    reports(scenario, "worker:1", 1, 0.9);
    const toldAtMs = scenario.nowMs;
    scenario.after(1_000);
    const [wait] = statusOf(scenario.core, scenario.nowMs).waits.filter(({ reason }) => reason.code === "programs");
    expect(wait).toMatchObject({ reason: { tasks: ["worker:1"] }, sinceMs: toldAtMs });
  });

  test("that are to stop do so under the next attempt, whether or not it finds their programs gone", () => {
    for (const child of ["running", "none"] as const) {
      const { scenario } = running(asha);
      reports(scenario, "worker:0", 1, 0.5);
      reports(scenario, "worker:1", 1, 0.9);
      const kept = ["worker:0", "worker:1"].map((task) =>
        scenario.container(1, { containerId: scenario.task(task).containerId }),
      );
      scenario.crash(kept);
      const report = child === "none" ? { state: child } : { state: child, pid: 7, startedAtMs: scenario.nowMs };
      const heard = scenario.reports("worker:1", report);
      expect(stopped(heard)).toEqual(child === "none" ? [] : ["worker:1"]);
      expect(relaunched(child === "none" ? heard : scenario.stops("worker:1"))).toEqual(["worker:2"]);
    }
  });

  test("may report NaN, which is never among the best but counts as a report, and so do infinite values", () => {
    const { scenario } = running({ ...asha, direction: "maximize" });
    expect(stopped(reports(scenario, "worker:0", 1, Number.POSITIVE_INFINITY))).toEqual([]);
    expect(stopped(reports(scenario, "worker:1", 1, Number.NaN))).toEqual(["worker:1"]);
    scenario.stops("worker:1");
    const { tasks } = statusOf(scenario.core, scenario.nowMs);
    expect(tasks.slice(0, 2).map(({ metrics, trial }) => [metrics, trial])).toEqual([
      [{}, { state: "running", nonFinite: "Infinity" }],
      [{}, { state: "stopped", nonFinite: "NaN", why: expect.stringContaining("its NaN at the rung of step 1") }],
    ]);
    const kept = scenario.container(1, { containerId: scenario.task("worker:0").containerId });
    scenario.crash([kept]);
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({
      value: Number.POSITIVE_INFINITY,
      reports: [{ step: 1, value: Number.POSITIVE_INFINITY }],
    });
  });

  test("have the value that they reported last, even if nobody heard it before they had ended", () => {
    const { scenario } = running();
    reports(scenario, "worker:0", 1, 0.5);
    const { containerId, generation } = scenario.task("worker:0");
    scenario.crash([scenario.container(1, { containerId })]);
    const exit = childExit(scenario.nowMs, {});
    const progress = { step: 9, atMs: scenario.nowMs, metrics: { loss: 0.25 } };
    scenario.reports("worker:0", { state: "exited", exit }, { generation, progress });
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "completed", step: 9, value: 0.25 });
  });

  test("go on from their own checkpoints, never from another trial's", () => {
    const { scenario } = running();
    reports(scenario, "worker:0", 4, 0.5, "hdfs:///c/0-4");
    reports(scenario, "worker:1", 2, 0.5, "hdfs:///c/1-2");
    scenario.completes(scenario.task("worker:1").containerId, -100);
    scenario.after(60_000);
    scenario.allocateAll();
    const checkpoints = (effects: readonly Effect[]) =>
      effects.flatMap((effect) =>
        effect.type === "send" && effect.message.type === "start-child" ? [effect.message.checkpoint] : [],
      );
    expect(checkpoints(scenario.ready("worker:1"))).toEqual(["hdfs:///c/1-2"]);
    scenario.exits("worker:0");
    expect(checkpoints(scenario.ready("worker:2"))).toEqual([""]);
  });

  const promotion = { stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 4 } as const;

  /** What the programs that start go on from. */
  const checkpoints = (effects: readonly Effect[]) =>
    effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child"
        ? [[effect.to.task, effect.message.checkpoint]]
        : [],
    );

  test("that pause leave their containers to others, and go on from their checkpoints once they are among the best", () => {
    const { scenario, first } = running(promotion);
    expect(stopped(reports(scenario, "worker:0", 1, 0.5, "hdfs:///c/0-1"))).toEqual(["worker:0"]);
    expect(relaunched(scenario.stops("worker:0"))).toEqual(["worker:2"]);
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "paused", value: 0.5, rung: 0 });
    scenario.ready("worker:2");
    scenario.startedAll();
    // The best one of two is the first: it is the next to have a container.
    expect(stopped(reports(scenario, "worker:1", 1, 0.9, "hdfs:///c/1-1"))).toEqual(["worker:1"]);
    expect(relaunched(scenario.stops("worker:1"))).toEqual(["worker:0"]);
    const { containerId } = scenario.task("worker:0");
    expect(containerId).toBe("c2");
    const again = scenario.ready("worker:0");
    expect(checkpoints(again)).toEqual([["worker:0", "hdfs:///c/0-1"]]);
    expect(started(again)).toEqual([first[0]]);
    expect(scenario.task("worker:0").restartReason).toBe("it paused at a rung, and is among the best there");
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "running", rung: 1 });
    scenario.startedAll();
    // Steps that it repeats decide nothing.
    expect(stopped(reports(scenario, "worker:0", 1, 7))).toEqual([]);
    expect(statusOf(scenario.core, scenario.nowMs).tasks[1]?.trial).toMatchObject({
      state: "paused",
      why: "it waits at step 1 with 0.9: the best of those there go on",
    });
  });

  test("that would be the next to go on do not pause", () => {
    const { scenario } = running(promotion);
    reports(scenario, "worker:0", 1, 0.5);
    expect(stopped(reports(scenario, "worker:1", 1, 0.4))).toEqual([]);
    expect(trialOf(scenario.task("worker:1"))).toMatchObject({ state: "running", rung: 1 });
  });

  test("that pause do so once the journal knows, and count as paused however their programs end; a trial that has ended well has completed", () => {
    for (const [exit, state] of [
      [{ exitCode: 1 }, "paused"],
      [{}, "completed"],
    ] as const) {
      const { scenario } = running(promotion);
      scenario.journalWorks = false;
      expect(stopped(reports(scenario, "worker:0", 1, 0.5))).toEqual([]);
      scenario.journalWorks = true;
      expect(stopped(scenario.after(1_000))).toEqual(["worker:0"]);
      expect(relaunched(scenario.exits("worker:0", exit))).toEqual(["worker:2"]);
      expect(trialOf(scenario.task("worker:0")).state).toBe(state);
    }
  });

  test("that pause are still paused under the next attempt, and go on there", () => {
    const { scenario } = running(promotion);
    reports(scenario, "worker:0", 1, 0.5, "hdfs:///c/0-1");
    scenario.stops("worker:0");
    const kept = ["worker:1", "worker:2"].map((task) =>
      scenario.container(1, { containerId: scenario.task(task).containerId }),
    );
    scenario.crash(kept);
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "paused", rung: 0, value: 0.5 });
    scenario.reports("worker:1", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    reports(scenario, "worker:1", 1, 0.9);
    expect(relaunched(scenario.stops("worker:1"))).toEqual(["worker:0"]);
    expect(checkpoints(scenario.ready("worker:0"))).toEqual([["worker:0", "hdfs:///c/0-1"]]);
  });

  test("of a search are over when no paused one goes on any more; their containers go back meanwhile", () => {
    const { scenario } = running({ ...promotion, maxTrials: 2, maxParallel: 2 });
    reports(scenario, "worker:0", 1, 0.5);
    expect(released(scenario.stops("worker:0"))).toEqual(["c1"]);
    reports(scenario, "worker:1", 1, 0.9);
    scenario.stops("worker:1");
    scenario.ready("worker:0");
    scenario.startedAll();
    expect(scenario.core.state.outcome).toBeUndefined();
    // It is the best one of those at the next rung, too, to which no other comes.
    reports(scenario, "worker:0", 2, 0.4);
    reports(scenario, "worker:0", 4, 0.3);
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      summary: "2 trials: 1 completed, 1 paused",
    });
  });

  test("of hyperband go on when nobody can displace them, the furthest first", () => {
    const { scenario } = running({
      ...promotion,
      stop: "hyperband",
      budget: { min: 1, max: 2, factor: 2 },
      maxTrials: 4,
    });
    // Two of the first bracket, of which one goes on, and two that begin with the last rung.
    reports(scenario, "worker:0", 1, 0.5);
    expect(relaunched(scenario.stops("worker:0"))).toEqual(["worker:2"]);
    scenario.ready("worker:2");
    scenario.startedAll();
    expect(stopped(reports(scenario, "worker:2", 2, 0.7))).toEqual([]);
    reports(scenario, "worker:1", 1, 0.9);
    expect(relaunched(scenario.stops("worker:1"))).toEqual(["worker:0"]);
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "running", rung: 1 });
  });

  test("of an earlier search that paused go on from the rung where they paused", () => {
    const one = { params: { x: 0.1 }, state: "paused", checkpoint: "hdfs:///c/0-2", checkpointStep: 2 } as const;
    const two = { params: { x: 0.2 }, state: "paused", reports: [[1, 0.9]] } as const;
    const before = [
      {
        ...one,
        reports: [
          [1, 0.5],
          [2, 0.4],
        ],
      },
      two,
    ] as const satisfies Search["before"];
    const scenario = new Scenario(spec({ ...promotion, before, maxTrials: 2 }));
    scenario.register();
    scenario.allocateAll();
    expect(checkpoints(scenario.ready("worker:0"))).toEqual([["worker:0", "hdfs:///c/0-2"]]);
    expect(trialOf(scenario.task("worker:0"))).toMatchObject({ state: "running", rung: 2 });
    expect(trialOf(scenario.task("worker:1"))).toMatchObject({ state: "paused", rung: 0, value: 0.9 });
  });

  test("chosen by TPE pause at rungs, too", () => {
    const { scenario } = running({ ...promotion, algorithm: "tpe" });
    expect(stopped(reports(scenario, "worker:0", 1, 0.5))).toEqual(["worker:0"]);
  });

  /** Trials end one after another, as many as there are words: a value, or an exit. */
  function end(scenario: Scenario, ...ends: readonly (number | Partial<ChildExit>)[]): void {
    for (const [index, how] of ends.entries()) {
      const task = `worker:${index}`;
      if (typeof how === "number") reports(scenario, task, 1, how);
      scenario.exits(task, typeof how === "number" ? {} : how);
      if (scenario.core.state.outcome !== undefined) return;
      scenario.ready(`worker:${index + 2}`);
      scenario.startedAll();
      scenario.after(1_000);
    }
  }

  const outcomeAfter = (change: Partial<Search>, ...ends: readonly (number | Partial<ChildExit>)[]) => {
    const { scenario } = running({ maxTrials: 12, ...change });
    end(scenario, ...ends);
    const { result, summary } = scenario.core.state.outcome ?? {};
    return { result, summary };
  };

  test("of a search with a goal end once one has ended with that value or a better one", () => {
    expect(outcomeAfter({ goal: 0.5 }, 0.9, 0.6)).toEqual({});
    expect(outcomeAfter({ goal: 0.5 }, 0.9, 0.4)).toEqual({
      result: "succeeded",
      summary: "worker:1 ended with loss 0.4, which reaches the goal 0.5: tony.search.goal",
    });
    expect(outcomeAfter({ goal: 0.5, direction: "maximize" }, 0.9)).toMatchObject({ result: "succeeded" });
  });

  test.each([
    ["pauses at a rung", promotion, "worker:0"],
    ["is stopped early because another is better", asha, "worker:1"],
  ] as const)("of a search with a goal end, too, once one that reaches it %s", (_, stop, task) => {
    const { scenario } = running({ ...stop, goal: 0.5 });
    reports(scenario, "worker:0", 1, 0.3);
    if (task === "worker:1") reports(scenario, task, 1, 0.4);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.stops(task);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      reason: { code: "goal-reached", task, goal: 0.5 },
    });
  });

  test("end when the time of their search is over; completed ones count", () => {
    for (const completed of [0, 1]) {
      const { scenario } = running({ timeoutMs: 60_000 });
      end(scenario, ...[0.5].slice(0, completed));
      scenario.after(58_000 - 1_000 * completed);
      expect(scenario.core.state.outcome).toBeUndefined();
      expect(stopped(scenario.after(3_000))).toEqual([]);
      expect(scenario.core.state.outcome).toMatchObject({
        result: completed === 0 ? "failed" : "succeeded",
        summary: `the search ended after 1 min with ${completed} trial${completed === 1 ? "" : "s"} completed: tony.search.timeout`,
      });
    }
  });

  test("that have a value when the time of their search is over count as results", () => {
    const { scenario } = running({ timeoutMs: 60_000 });
    reports(scenario, "worker:0", 1, 0.5);
    scenario.after(61_000);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      summary: "the search ended after 1 min with 0 trials completed: tony.search.timeout",
    });
  });

  test("that have failed by then do not count, whatever they had reported", () => {
    const { scenario } = running({ timeoutMs: 60_000, maxTrials: 2 });
    reports(scenario, "worker:0", 1, 0.5);
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.after(61_000);
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", reason: { code: "search-time-over" } });
  });

  const bug = { exitCode: 1, traceback: "Traceback (most recent call last):\nKeyError: 'x1'" };

  test.each<[string, Partial<Search["failures"]>, readonly (number | Partial<ChildExit>)[], string | undefined]>([
    [
      "one has failed",
      { onFailed: "end" },
      [0.5, bug],
      "1 trial failed, which ends the search: tony.search.on-failed-trial",
    ],
    [
      "too many have",
      { most: 2 },
      [bug, 0.5, bug],
      "2 trials failed, which ends the search: tony.search.max-failed-trials",
    ],
    ["fewer have", { most: 3 }, [bug, 0.5, bug], undefined],
    [
      "too many have in a row",
      { mostInARow: 2 },
      [bug, 0.5, bug, bug],
      "2 trials failed in a row, which ends the search: tony.search.max-failed-trials-in-a-row",
    ],
    ["as many have, not in a row", { mostInARow: 2 }, [bug, 0.5, bug, 0.5], undefined],
    [
      "the first five have the same way",
      {},
      [bug, bug, { ...bug, traceback: "KeyError: 'x2'" }, bug, bug],
      "the first 5 trials failed the same way, so no further one is tried",
    ],
    ["the first five have each in its way", {}, [bug, bug, { exitCode: 2 }, bug, bug, bug], undefined],
    ["five have the same way after one that did not", {}, [0.5, bug, bug, bug, bug, bug], undefined],
    [
      "the first five end well without a value",
      {},
      [{}, {}, {}, {}, {}],
      "worker:4 exited 0 on n1 but reported no loss, nor any other numeric metric; the first 5 trials failed the same way, so no further one is tried",
    ],
    [
      "the first five end with NaN",
      {},
      [Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN],
      "worker:4 exited 0 on n1 but reported NaN as loss; the first 5 trials failed the same way",
    ],
  ])("of a search are over or not when %s", (_, failures, ends, words) => {
    const outcome = outcomeAfter({ failures: { onFailed: "continue", ...failures } }, ...ends);
    expect(outcome.result).toBe(words && "failed");
    expect(outcome.summary ?? "").toContain(words ?? "");
  });

  test.each<[string, readonly (number | Partial<ChildExit>)[], string]>([
    ["one", [bug], "1 trial: 1 failed: trial:0 exited 1 on n1: KeyError: 'x1'"],
    [
      "three",
      [bug, { ...bug, traceback: "KeyError: 'x2'" }, bug],
      "3 trials: 3 failed the same way: trial:0 exited 1 on n1: KeyError: 'x1'",
    ],
    ["two, each in its way", [bug, { exitCode: 2 }], "2 trials: 2 failed"],
    ["two, of which one completed", [bug, 0.5], "2 trials: 1 completed, 1 failed"],
  ])("of a search too small for that rule say at its end why all failed: %s", (_, ends, summary) => {
    const scenario = new Scenario(spec({ maxTrials: ends.length, maxParallel: ends.length }));
    scenario.toRunning();
    for (const [index, how] of ends.entries()) {
      if (typeof how === "number") reports(scenario, `worker:${index}`, 1, how);
      scenario.exits(`worker:${index}`, typeof how === "number" ? {} : how);
    }
    scenario.after(5_000);
    expect(scenario.core.state.outcome?.summary).toBe(summary);
  });

  test("count as in a row by the order in which they ended, whatever their numbers are", () => {
    const { scenario } = running({ maxTrials: 12, failures: { onFailed: "continue", mostInARow: 2 } });
    const next = (task: string) => {
      scenario.ready(task);
      scenario.startedAll();
      scenario.after(1_000);
    };
    scenario.exits("worker:1", bug);
    next("worker:2");
    reports(scenario, "worker:0", 1, 0.5);
    scenario.exits("worker:0");
    next("worker:3");
    scenario.exits("worker:2", bug);
    expect(scenario.core.state.outcome).toBeUndefined();
    next("worker:4");
    scenario.exits("worker:4", bug);
    expect(scenario.core.state.outcome?.summary).toContain("2 trials failed in a row, which ends the search");
  });

  test("that report another metric say which one; trials whose last reports are awaited do not keep five from being the first five", () => {
    const scenario = new Scenario(spec({ maxTrials: 12, maxParallel: 8 }));
    scenario.toRunning();
    const tasks = Array.from({ length: 8 }, (_, index) => `worker:${index}`);
    for (const task of tasks) {
      const { containerId, generation } = scenario.task(task);
      const at = { task, containerId, generation, step: 1, atMs: scenario.nowMs };
      scenario.on({ type: "child-progress", ...at, metrics: { Loss: 0.5, epoch: 1 } });
    }
    scenario.journalWorks = false;
    for (const task of tasks) scenario.exits(task);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.journalWorks = true;
    scenario.after(5_000);
    expect(scenario.core.state.outcome?.summary).toMatch(
      /^worker:\d exited 0 on n\d but reported no loss \(only Loss, epoch\); the first 5 trials failed the same way, so no further one is tried$/,
    );
  });

  test("are shown with the variables that have their parameters, so that their program runs in any shell", () => {
    const command = "echo $LR";
    const environment = { LR: "{{param.x}}", NAME: "run {{param.x}} it's", OTHER: "secret" };
    const { spec: job } = running().scenario.core;
    const shown = (more: Partial<JobSpec["roles"][number]>) => {
      const scenario = new Scenario({ ...job, roles: job.roles.map((one) => ({ ...one, command, ...more })) });
      return statusOf(scenario.core, 0).search?.command;
    };
    expect(shown({})).toBe("echo $LR");
    expect(shown({ environment })).toBe("(export LR={{param.x}} NAME='run '{{param.x}}' it'\\''s'; echo $LR)");
  });

  test("that end without a value while their search fails have a reason, too", () => {
    const { scenario } = running({ failures: { onFailed: "end" }, maxTrials: 12 });
    for (const task of ["worker:0", "worker:1"]) reports(scenario, task, 1, Number.NaN);
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome?.result).toBe("failed");
    scenario.journalWorks = false;
    scenario.exits("worker:1");
    const why = (task: string) => `${task} exited 0 on ${scenario.task(task).host} but reported NaN as loss`;
    const failed = ["worker:0", "worker:1"].map((task) => ({ trial: { state: "failed", why: why(task) } }));
    const status = statusOf(scenario.core, scenario.nowMs);
    expect(status.tasks.slice(0, 2)).toMatchObject(failed);
    expect(trialLines(scenario.core, status).map(({ error }) => error)).toEqual([why("worker:0"), why("worker:1")]);
  });

  test("that are lost with their machines do not count as failed", () => {
    const job = spec({ failures: { onFailed: "end" } });
    const scenario = new Scenario({ ...job, failure: { ...job.failure, budgets: { program: 0, infrastructure: 0 } } });
    scenario.toRunning();
    scenario.completes(scenario.task("worker:0").containerId, -100);
    scenario.after(60_000);
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(scenario.task("worker:0").trialFailure?.words).toMatch(/lost its node/);
  });

  test("whose programs fail start again in another container, at last on another node if one is given; then they have failed", () => {
    const { scenario, first } = running({ retries: 2 });
    const firstContainer = scenario.task("worker:0").containerId;
    expect(released(scenario.exits("worker:0", bug))).toEqual([firstContainer]);
    expect(scenario.task("worker:0").trialAvoids).toBeUndefined();
    const again = scenario.container(1, { host: "n9" });
    scenario.on({ type: "containers-allocated", containers: [again] });
    expect(started(scenario.ready("worker:0"))).toEqual([first[0]]);
    scenario.startedAll();
    expect(released(scenario.exits("worker:0", bug))).toEqual([again.containerId]);
    expect(scenario.task("worker:0").trialAvoids).toBe("n9");
    const same = scenario.container(1, { host: "n9" });
    scenario.on({ type: "containers-allocated", containers: [same] });
    expect(scenario.task("worker:2").containerId).toBe(same.containerId);
    scenario.ready("worker:2");
    scenario.startedAll();
    reports(scenario, "worker:1", 1, 0.5);
    expect(relaunched(scenario.exits("worker:1"))).toEqual(["worker:0"]);
    scenario.ready("worker:0");
    scenario.startedAll();
    expect(relaunched(scenario.exits("worker:0", bug))).toEqual(["worker:3"]);
    expect(scenario.task("worker:0")).toMatchObject({
      ...{ phase: "failed", restarts: 2 },
      trialFailure: { lines: ["Traceback (most recent call last):", "KeyError: 'x1'"] },
    });
  });

  describe("whose containers YARN ends for what was used in them", () => {
    /** What an executor does on SIGTERM; YARN says later why it came. */
    const toldToEnd = (scenario: Scenario, task: string) => {
      const { containerId } = scenario.task(task);
      scenario.exits(task, { signal: "SIGTERM", stopReason: { code: "container-terminated" } });
      scenario.on({ type: "executor-lost", task, containerId, cause: "goodbye" });
      return containerId;
    };
    const begins = (scenario: Scenario) => {
      scenario.allocateAll();
      scenario.ready("worker:0");
      scenario.startedAll();
    };
    const why = (host: string) => `worker:0 used more virtual memory than YARN allows on ${host}`;

    function killed(change: Partial<Search> = {}) {
      const { scenario } = running({ retries: 2, maxTrials: 3, ...change });
      return { scenario, host: scenario.task("worker:0").host };
    }

    test.each(["waits for another one", "runs in another one"])(
      "have failed by themselves, and give that as the reason for starting again: one that %s by then goes on",
      (state) => {
        const { scenario, host } = killed();
        const containerId = toldToEnd(scenario, "worker:0");
        expect(scenario.task("worker:0").restartReason).toContain("YARN has not said why");
        if (state.startsWith("runs")) begins(scenario);
        const { phase, generation, containerId: next } = scenario.task("worker:0");
        scenario.completes(containerId, -103);
        expect(scenario.core.state.outcome).toBeUndefined();
        expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
        const isAsBefore = { phase, generation, containerId: next, restarts: 1 };
        expect(scenario.task("worker:0")).toMatchObject({
          ...{ ...isAsBefore, restartReason: why(host), trialRetries: 1 },
        });
      },
    );

    test.each(["waits for another one", "is given another one", "runs in another one"])(
      "have failed when they may not start again: one that %s by then ends, and the search goes on",
      (state) => {
        const { scenario, host } = killed({ retries: 0 });
        const { startedAtMs } = scenario.task("worker:0");
        const containerId = toldToEnd(scenario, "worker:0");
        if (state.startsWith("is")) scenario.allocateAll();
        if (state.startsWith("runs")) begins(scenario);
        const { containerId: next } = scenario.task("worker:0");
        const effects = scenario.completes(containerId, -103);
        expect(released(effects)).toEqual(next === "" ? [] : [next]);
        expect(statusOf(scenario.core, scenario.nowMs).tasks[0]).toMatchObject({
          ...{ trial: { state: "failed", why: why(host) }, host, exit: "-103", startedAtMs },
        });
        scenario.allocateAll();
        scenario.ready("worker:2");
        scenario.startedAll();
        for (const task of ["worker:1", "worker:2"]) {
          reports(scenario, task, 1, 0.5);
          scenario.exits(task);
        }
        const summary = "3 trials: 2 completed, 1 failed";
        expect(scenario.core.state.outcome).toMatchObject({
          result: "succeeded",
          summary,
        });
      },
    );

    test("end the search where it may have no failed trial", () => {
      const { scenario, host } = killed({ retries: 0, failures: { onFailed: "end" } });
      scenario.completes(toldToEnd(scenario, "worker:0"), -103);
      expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { summary: why(host) } });
    });

    describe.each([{ signal: "SIGTERM" }, { exitCode: 143 }, { signal: "SIGKILL" }])(
      "and whose program ended first: %j",
      (exit) => {
        test("start again when YARN has given the reason, or its time for that is over", () => {
          const { scenario, host } = killed();
          const { containerId } = scenario.task("worker:0");
          expect(released(scenario.exits("worker:0", exit))).toEqual([]);
          expect(scenario.task("worker:0")).toMatchObject({ phase: "failed", restarts: 0 });
          const [wait] = statusOf(scenario.core, scenario.nowMs).waits;
          expect(wait?.reasons).toEqual([
            "trial:0 ended by a signal, and YARN may yet say that it ended the container",
          ]);
          expect(wait?.delays).toEqual([{ code: "end-unexplained", tasks: ["worker:0"] }]);
          scenario.completes(containerId, -103);
          expect(scenario.task("worker:0")).toMatchObject({
            phase: "waiting",
            restarts: 1,
            restartReason: why(host),
            trialRetries: 1,
          });
          begins(scenario);
          const { containerId: second } = scenario.task("worker:0");
          scenario.exits("worker:0", exit);
          expect(released(scenario.after(4_000))).toEqual([second]);
          expect(scenario.task("worker:0")).toMatchObject({ phase: "waiting", restarts: 2, trialRetries: 2 });
        });

        test("have not failed where YARN took the container back", () => {
          const { scenario } = killed({ retries: 0 });
          const { containerId } = scenario.task("worker:0");
          scenario.exits("worker:0", exit);
          scenario.completes(containerId, -102);
          expect(scenario.task("worker:0")).toMatchObject({ phase: "waiting", restarts: 1 });
          expect(scenario.task("worker:0").trialRetries).toBeUndefined();
        });

        test("are waited for, although all others have ended", () => {
          const { scenario } = killed({ retries: 0, maxTrials: 2 });
          reports(scenario, "worker:1", 1, 0.5);
          scenario.exits("worker:1");
          scenario.exits("worker:0", exit);
          expect(scenario.core.state.outcome).toBeUndefined();
          scenario.after(4_000);
          expect(scenario.core.state.outcome?.summary).toBe("2 trials: 1 completed, 1 failed");
        });
      },
    );

    test("count as failed once where they had failed for good by then", () => {
      const { scenario } = killed({ retries: 0 });
      const first = toldToEnd(scenario, "worker:0");
      begins(scenario);
      const second = toldToEnd(scenario, "worker:0");
      scenario.completes(first, -103);
      scenario.completes(second, -103);
      scenario.after(60_000);
      expect(scenario.task("worker:0")).toMatchObject({ phase: "failed", containerId: "", restarts: 0 });
      expect(trialOf(scenario.task("worker:0")).state).toBe("failed");
    });
  });

  test("that run again because their machines were lost are counted apart from those that failed", () => {
    const { scenario } = running({ maxTrials: 2 });
    scenario.completes(scenario.task("worker:0").containerId, -100);
    scenario.after(60_000);
    scenario.allocateAll();
    scenario.ready("worker:0");
    scenario.startedAll();
    for (const task of ["worker:0", "worker:1"]) {
      reports(scenario, task, 1, 0.5);
      scenario.exits(task);
    }
    const summary = "2 trials: 2 completed; 1 was run again after infrastructure failures";
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary });
  });

  test("whose programs fail again and again start on an avoided node where only that has room", () => {
    const { scenario } = running({ retries: 2, maxTrials: 2 });
    for (const task of ["worker:0", "worker:0"]) {
      scenario.exits(task, bug);
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1, { host: "n2" })] });
      scenario.ready(task);
      scenario.startedAll();
    }
    scenario.exits("worker:0", bug);
    expect(scenario.task("worker:0").phase).toBe("failed");
  });

  test("that start again have no value of their earlier lives, and are shown in none of their containers", () => {
    const { scenario } = running({ maxTrials: 2, retries: 1 });
    reports(scenario, "worker:0", 1, 0.5);
    scenario.exits("worker:0", bug);
    expect(scenario.task("worker:0").phase).toBe("waiting");
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]).not.toHaveProperty("containerId");
    scenario.allocateAll();
    scenario.ready("worker:0");
    scenario.startedAll();
    scenario.exits("worker:0");
    expect(trialOf(scenario.task("worker:0"))).not.toHaveProperty("value");
    expect(trialOf(scenario.task("worker:0")).state).toBe("failed");
  });

  test("that run again because their programs failed are not counted as lost with their machines", () => {
    const { scenario } = running({ maxTrials: 2, retries: 1 });
    scenario.exits("worker:0", bug);
    scenario.allocateAll();
    scenario.ready("worker:0");
    scenario.startedAll();
    for (const task of ["worker:0", "worker:1"]) {
      reports(scenario, task, 1, 0.5);
      scenario.exits(task);
    }
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "2 trials: 2 completed" });
  });

  test("of an earlier search are as they were; an interrupted one goes on from its checkpoint, and new numbers follow the old ones", () => {
    const before = [
      { params: { x: 0.1 }, state: "completed", value: 0.4, step: 9 },
      {
        params: { x: 0.2 },
        state: "interrupted",
        step: 3,
        checkpoint: "hdfs:///c/1-3",
        checkpointStep: 3,
        application: "a",
      },
      { params: { x: 0.3 }, state: "failed", error: "worker:2 exited 1 on n1", application: "a" },
      {
        params: { x: 0.4 },
        state: "stopped",
        value: "Infinity",
        reports: [
          [1, 0.9],
          [2, "Infinity"],
        ],
        why: "it was bad",
      },
    ] as const satisfies Search["before"];
    const scenario = new Scenario(spec({ before, maxTrials: 6 }));
    expect(askedOf(scenario.register())).toEqual([2]);
    scenario.allocateAll();
    const effects = [...scenario.ready("worker:1"), ...scenario.ready("worker:4")];
    expect(started(effects)).toEqual([
      ["worker:1", { x: 0.2 }],
      ["worker:4", { x: expect.any(Number) }],
    ]);
    const [first] = effects.filter(({ type }) => type === "send");
    expect(first).toMatchObject({ to: { task: "worker:1" }, message: { checkpoint: "hdfs:///c/1-3" } });
    const { tasks } = statusOf(scenario.core, scenario.nowMs);
    // What ran there alone left its logs there.
    expect(tasks.map(({ trial }) => trial?.application)).toEqual([undefined, undefined, "a", ...Array(3)]);
    expect(trialLines(scenario.core, { applicationId: "b" })[2]).toMatchObject({ state: "failed", application: "a" });
    expect(tasks.map(({ trial, metrics }) => [trial?.state, metrics])).toEqual([
      ["completed", { loss: 0.4 }],
      ["running", undefined],
      ["failed", undefined],
      ["stopped", undefined],
      ["running", undefined],
      [undefined, undefined],
    ]);
    scenario.startedAll();
    for (const task of ["worker:1", "worker:4"]) {
      reports(scenario, task, 4, 0.5);
      scenario.exits(task);
    }
    scenario.ready("worker:5");
    scenario.startedAll();
    scenario.exits("worker:5");
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      summary: "6 trials: 3 completed, 1 stopped, 2 failed",
    });
  });

  test("of a generation wait for those of the one before, and their containers go back meanwhile", () => {
    const { scenario } = running({ algorithm: "evolution", population: 4, maxTrials: 8, maxParallel: 2 });
    const ends = (index: number) => {
      reports(scenario, `worker:${index}`, 1, index);
      return scenario.exits(`worker:${index}`);
    };
    for (const index of [0, 1]) {
      expect(relaunched(ends(index))).toEqual([`worker:${index + 2}`]);
      scenario.ready(`worker:${index + 2}`);
      scenario.startedAll();
    }
    const back = ends(2);
    expect([relaunched(back), released(back)]).toEqual([[], ["c1"]]);
    const opened = ends(3);
    expect(relaunched(opened)).toEqual(["worker:4"]);
    expect(askedOf(opened)).toContain(1);
    scenario.allocateAll();
    expect(started([...scenario.ready("worker:4"), ...scenario.ready("worker:5")])).toHaveLength(2);
  });

  describe("that Optuna proposes", () => {
    const byOptuna = { algorithm: "optuna", optunaPython: "python3", keepIdleMs: 5_000 } as const;
    const proposes = (scenario: Scenario, number: number, x: number) =>
      scenario.on({ type: "trial-proposed", number, params: { x } });

    test("are asked for one after the other while there is room, and before any container", () => {
      const scenario = new Scenario(spec({ ...byOptuna, points: [{ x: 0.7 }] }));
      expect(askedOf(scenario.register())).toEqual([1]);
      expect(trialToPropose(scenario.core)).toBe(1);
      expect(askedOf(proposes(scenario, 1, 0.2))).toEqual([2]);
      expect(trialToPropose(scenario.core)).toBeUndefined();
      scenario.allocateAll();
      expect(started([...scenario.ready("worker:0"), ...scenario.ready("worker:1")])).toEqual([
        ["worker:0", { x: 0.7 }],
        ["worker:1", { x: 0.2 }],
      ]);
    });

    /** Two of five run. */
    function twoRun() {
      const scenario = new Scenario(spec(byOptuna));
      scenario.register();
      proposes(scenario, 0, 0.1);
      proposes(scenario, 1, 0.2);
      scenario.allocateAll();
      scenario.readyAll();
      scenario.startedAll();
      return scenario;
    }

    test("get the container of one that has ended, which is kept for the answer", () => {
      const scenario = twoRun();
      reports(scenario, "worker:0", 1, 0.5);
      expect(released(scenario.exits("worker:0"))).toEqual([]);
      expect(trialToPropose(scenario.core)).toBe(2);
      expect(relaunched(proposes(scenario, 2, 0.3))).toEqual(["worker:2"]);
    });

    test("are in the journal before they start: a later attempt asks for none of them again", () => {
      const scenario = twoRun();
      reports(scenario, "worker:0", 1, 0.5);
      scenario.exits("worker:0");
      scenario.journalWorks = false;
      proposes(scenario, 2, 0.3);
      expect(started(scenario.ready("worker:2"))).toEqual([]);
      scenario.journalWorks = true;
      expect(started(scenario.after(1_000))).toEqual([["worker:2", { x: 0.3 }]]);
      scenario.startedAll();
      scenario.crash(
        ["worker:1", "worker:2"].map((task) => scenario.container(1, { containerId: scenario.task(task).containerId })),
      );
      expect(scenario.core.state.tasks.map(({ trialParameters }) => trialParameters?.x)).toEqual([
        0.1,
        0.2,
        0.3,
        undefined,
        undefined,
      ]);
    });

    test("start nothing where the journal does not know them: a container that was meant for one goes back", () => {
      const scenario = new Scenario(spec(byOptuna));
      scenario.register();
      scenario.journalWorks = false;
      proposes(scenario, 0, 0.1);
      scenario.allocateAll();
      scenario.ready("worker:0");
      const { containerId } = scenario.task("worker:0");
      scenario.crash([scenario.container(1, { containerId })]);
      scenario.journalWorks = true;
      const claim = { task: "worker:0", containerId, host: "n1", tensorboardPort: 0, rejoinAddress: "n1:9" };
      const effects = scenario.on({
        ...{ type: "executor-registered", generation: 1, port: 4000, child: { state: "none" } },
        ...claim,
      });
      expect(started([...effects, ...scenario.after(1_000)])).toEqual([]);
      expect(released(effects)).toEqual([containerId]);
      expect(trialToPropose(scenario.core)).toBe(0);
    });

    test("are not accepted where they are not asked for: late, twice or out of turn", () => {
      const scenario = twoRun();
      proposes(scenario, 1, 0.9);
      proposes(scenario, 2, 0.9);
      proposes(scenario, 4, 0.9);
      expect(scenario.core.state.tasks.map(({ trialParameters }) => trialParameters?.x)).toEqual([
        0.1,
        0.2,
        undefined,
        undefined,
        undefined,
      ]);
    });

    test("end with the search when Optuna can no longer be asked, and the search says how to go on", () => {
      const scenario = twoRun();
      scenario.on({
        ...{ type: "proposals-failed", hasRun: true },
        problem: "ModuleNotFoundError: No module named 'optuna'",
      });
      expect(scenario.core.state.outcome).toMatchObject({
        result: "failed",
        summary:
          "Optuna could not be asked for the next trial: ModuleNotFoundError: No module named 'optuna'. Install it for python3 on the ApplicationMaster's node (pip install optuna), or set tony.search.optuna.python to a Python that has it; tony-ts search --resume continues the search, with any tony.search.algorithm",
      });
    });

    test("end with the search when Optuna's interpreter cannot be started, and then no package is named to install", () => {
      const scenario = twoRun();
      scenario.on({ type: "proposals-failed", problem: "there is no program /opt/python", hasRun: false });
      expect(scenario.core.state.outcome).toMatchObject({
        result: "failed",
        summary:
          "Optuna could not be asked for the next trial: there is no program /opt/python on the ApplicationMaster's node. Set tony.search.optuna.python to a Python there that has Optuna; tony-ts search --resume continues the search, with any tony.search.algorithm",
      });
    });
  });

  describe("whose containers are kept", () => {
    const keepIdleMs = 30_000;
    const generations = { algorithm: "evolution", population: 4, maxTrials: 8, maxParallel: 2, keepIdleMs } as const;

    const ends = (scenario: Scenario, index: number) => {
      reports(scenario, `worker:${index}`, 1, index);
      return scenario.exits(`worker:${index}`);
    };

    /** Three trials of the first generation have ended, one runs. */
    function oneLeft() {
      const { scenario } = running(generations);
      for (const index of [0, 1]) {
        ends(scenario, index);
        scenario.ready(`worker:${index + 2}`);
        scenario.startedAll();
      }
      return { scenario, ended: ends(scenario, 2) };
    }

    const waitsFor = (scenario: Scenario) =>
      statusOf(scenario.core, scenario.nowMs).waits.map(({ what, endsAtMs = 0, atEnd }) => [
        what,
        endsAtMs - scenario.nowMs,
        atEnd,
      ]);

    test("get them when the next generation begins: none is asked for", () => {
      const { scenario, ended } = oneLeft();
      expect(released(ended)).toEqual([]);
      expect(waitsFor(scenario)).toEqual([
        [
          "the next trial for 1 container that has none",
          keepIdleMs,
          "what no trial has taken is returned (tony.search.keep-idle-ms)",
        ],
      ]);
      scenario.after(29_999);
      const opened = ends(scenario, 3);
      expect(relaunched(opened)).toEqual(["worker:4", "worker:5"]);
      expect(askedOf(opened)).toEqual([]);
      expect(waitsFor(scenario).map(([what]) => what)).toEqual(["the executors of trial:4, trial:5"]);
    });

    test("lose them when the time is over, which counts as waiting for results", () => {
      const { scenario } = oneLeft();
      expect(released(scenario.after(30_000))).toEqual(["c1"]);
      expect(statusOf(scenario.core, scenario.nowMs).search?.containerTime).toMatchObject({ barrierMs: 30_000 });
      expect(askedOf(ends(scenario, 3))).toContain(1);
    });

    test("lose them at once when no further trial can come", () => {
      const { scenario } = running({ maxTrials: 2, keepIdleMs });
      expect(released(ends(scenario, 0))).toEqual(["c1"]);
    });

    test("lose one whose executor is not heard, or whose node is leaving", () => {
      const { scenario } = oneLeft();
      const lost = scenario.on({ type: "executor-lost", task: "worker:2", containerId: "c1", cause: "stream-broken" });
      expect(released(lost)).toEqual(["c1"]);
      const another = oneLeft().scenario;
      const leaving = { ...idleNode("n1"), usable: false, decommissioning: {} };
      expect(released(another.on({ type: "nodes-changed", nodes: [leaving] }))).toEqual(["c1"]);
    });

    test("and that pause go on in their own ones, which meanwhile count as room for other trials", () => {
      const { scenario } = running({ ...promotion, maxTrials: 2, keepIdleMs });
      reports(scenario, "worker:0", 1, 0.5);
      expect(released(scenario.stops("worker:0"))).toEqual([]);
      reports(scenario, "worker:1", 1, 0.9);
      scenario.stops("worker:1");
      expect(scenario.task("worker:0")).toMatchObject({ phase: "preparing", containerId: "c1" });
      scenario.ready("worker:0");
      scenario.startedAll();
      expect(released(scenario.after(30_000))).toEqual(["c2"]);
    });

    test("and that start again do so in a container on another node, not in one on the node that they avoid", () => {
      const again = (host: string) => {
        const scenario = new Scenario(spec({ ...promotion, maxTrials: 2, retries: 2, keepIdleMs }));
        scenario.register();
        const containers = [scenario.container(1, { host }), scenario.container(1, { host: "n9" })];
        scenario.on({ type: "containers-allocated", containers });
        scenario.readyAll();
        scenario.startedAll();
        reports(scenario, "worker:0", 1, 0.5);
        scenario.stops("worker:0");
        scenario.task("worker:1").trialRetries = 1;
        const failed = scenario.exits("worker:1", { exitCode: 3 });
        return [relaunched(failed), released(failed)];
      };
      expect(again("n1")).toEqual([["worker:1"], ["c2"]]);
      expect(again("n9")).toEqual([[], ["c2", "c1"]]);
    });
  });

  test("that fail do not end the search, and leave their containers to the next ones", () => {
    const { scenario } = running();
    expect(relaunched(scenario.exits("worker:0", { exitCode: 3 }))).toEqual(["worker:2"]);
    expect(scenario.phases()).toContain("worker:0 failed");
    expect(scenario.job).not.toHaveProperty("outcome.result");
  });
});
