import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import type { CoreState } from "../../../../am/core/state/state.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import { isReplaced } from "../../../../src/journal/task-life.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const APPLICATION = "application_1_0001";
const search: Search = { ...searchOf({ x: "float 0 1" }), algorithm: "random", maxTrials: 5, maxParallel: 2 };

/** Of five trials two run. */
function running(change: Partial<Search> = {}): Scenario {
  const job = jobSpec([role("worker", 1)]);
  const scenario = new Scenario(searchRun(job, { ...search, ...change }), APPLICATION);
  scenario.register();
  scenario.allocateAll();
  startAll(scenario);
  return scenario;
}

function startAll(scenario: Scenario): void {
  scenario.readyAll();
  scenario.startedAll();
}

function completes(scenario: Scenario, task: string): void {
  const { containerId, generation } = scenario.task(task);
  const atMs = scenario.nowMs;
  scenario.on({ type: "child-progress", task, containerId, generation, step: 1, atMs, metrics: { loss: 1 } });
  scenario.exits(task);
  startAll(scenario);
  scenario.after(1_000);
}

/** It comes to the first rung, and its program is stopped there. */
function pauses(scenario: Scenario, task: string, loss: number): void {
  const { containerId, generation } = scenario.task(task);
  const atMs = scenario.nowMs;
  scenario.on({ type: "child-progress", task, containerId, generation, step: 1, atMs, metrics: { loss } });
  scenario.stops(task);
  startAll(scenario);
  scenario.after(1_000);
}

/** The ids of the tasks in the last snapshot, and in each part. */
function written(effects: readonly Effect[]) {
  const journals = effects.filter((effect) => effect.type === "journal");
  const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);
  return {
    tasks: idsOf(JSON.parse(journals.at(-1)?.snapshot ?? "").tasks),
    parts: journals.flatMap(({ part }) => (part === undefined ? [] : [idsOf(JSON.parse(part).tasks)])),
  };
}

describe("a snapshot of a search", () => {
  test("has only the first of the trials that have not begun, and each trial that has ended is written once", () => {
    const scenario = running();
    expect(written(scenario.effects)).toEqual({ tasks: ["worker:0", "worker:1", "worker:2"], parts: [] });
    completes(scenario, "worker:0");
    expect(written(scenario.effects)).toEqual({ tasks: ["worker:1", "worker:2", "worker:3"], parts: [["worker:0"]] });
    completes(scenario, "worker:1");
    expect(written(scenario.effects)).toEqual({
      tasks: ["worker:2", "worker:3", "worker:4"],
      parts: [["worker:0"], ["worker:1"]],
    });
  });

  test("is complete for the next attempt, which goes on with the running trials and repeats none", () => {
    const scenario = running();
    for (const task of ["worker:0", "worker:1"]) completes(scenario, task);
    const before = structuredClone(scenario.core.state.tasks);
    scenario.crash([]);
    const { tasks } = scenario.core.state;
    expect(tasks.map(({ id, trialParameters, trialValue }) => ({ id, trialParameters, trialValue }))).toEqual(
      before.map(({ id, trialParameters, trialValue }) => ({ id, trialParameters, trialValue })),
    );
    expect(tasks.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(tasks.at(-1)).toEqual(before.at(-1));
  });

  test("has the trials that have not begun like the last one that it holds", () => {
    const scenario = running();
    scenario.after(1_000);
    const before = structuredClone(scenario.core.state.tasks);
    scenario.crash([]);
    expect(scenario.core.state.tasks.slice(2)).toEqual(before.slice(2));
    expect(before.at(-1)).toMatchObject({ id: "worker:4", index: 4, phase: "waiting" });
  });

  test("has a trial itself until the journal knows that it has ended", () => {
    const scenario = running();
    scenario.after(1_000);
    const [first] = scenario.exits("worker:0").filter((effect) => effect.type === "journal");
    expect(first).not.toHaveProperty("part");
    expect(JSON.parse(first?.snapshot ?? "")).toMatchObject({
      tasks: [{ id: "worker:0", phase: "succeeded" }, { id: "worker:1" }, { id: "worker:2" }],
    });
    expect(scenario.journal).not.toHaveProperty("parts");
  });

  test("is written again with the ended trials where they could not be written before, without those that were", () => {
    const scenario = running();
    completes(scenario, "worker:0");
    const [known = 0] = Object.values(scenario.core.state.journal.apart);
    scenario.after(1_000);
    scenario.journalAnswers = false;
    completes(scenario, "worker:1");
    while (!(1 in scenario.core.state.journal.apart)) {
      scenario.on({ type: "journal-written", sequence: scenario.core.state.journal.inFlight });
      scenario.after(1_000);
    }
    const failed = scenario.core.state.journal.inFlight;
    scenario.journalAnswers = true;
    scenario.on({ type: "journal-failed", sequence: failed, message: "safe mode" });
    scenario.after(10_000);
    expect(written(scenario.effects).parts).toEqual([["worker:0"], ["worker:1"], ["worker:1"]]);
    expect(scenario.journal).toMatchObject({ parts: [known, failed + 1] });
  });

  test("has ended trials beside it as soon as they are a 64th of all: there are never more than 64 parts", () => {
    const scenario = running({ maxTrials: 128 });
    completes(scenario, "worker:0");
    expect(written(scenario.effects)).toEqual({
      tasks: ["worker:0", "worker:1", "worker:2", "worker:3"],
      parts: [],
    });
    completes(scenario, "worker:1");
    expect(written(scenario.effects)).toEqual({
      tasks: ["worker:2", "worker:3", "worker:4"],
      parts: [["worker:0", "worker:1"]],
    });
  });

  test("names its parts as they were written, one after the other, and the runs of trials that are there", () => {
    const scenario = running();
    for (const task of ["worker:1", "worker:0", "worker:3"]) completes(scenario, task);
    const parts = scenario.effects.flatMap((effect) =>
      effect.type === "journal" && effect.part !== undefined ? [effect.sequence] : [],
    );
    expect(parts).toHaveLength(3);
    const over = [
      ["worker", 0, 1],
      ["worker", 3, 3],
    ];
    expect(scenario.journal).toMatchObject({ parts, over });
  });

  test("has a trial that has failed beside it", () => {
    const scenario = running();
    scenario.exits("worker:0", { exitCode: 1 });
    startAll(scenario);
    scenario.after(60_000);
    expect(scenario.task("worker:0").trialFailure).toBeDefined();
    expect(written(scenario.effects).parts).toEqual([["worker:0"]]);
  });

  test("has a trial itself as long as its executor may upload what it left", () => {
    const carrier = { output: { localDir: "results", dir: "hdfs:///out" }, outputRequired: false, timeoutMs: 60_000 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)], { carrier }), search), APPLICATION);
    scenario.toRunning();
    completes(scenario, "worker:0");
    expect(written(scenario.effects)).toEqual({ tasks: ["worker:0", "worker:1", "worker:2"], parts: [] });
    scenario.completes("c1", 0);
    scenario.after(1_000);
    expect(written(scenario.effects).parts).toEqual([["worker:0"]]);
  });

  test("has paused trials beside it, and has them again when they go on", () => {
    const scenario = running({ stop: "asha-promotion", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 3 });
    pauses(scenario, "worker:0", 1);
    expect(written(scenario.effects)).toEqual({ tasks: ["worker:1", "worker:2"], parts: [["worker:0"]] });
    pauses(scenario, "worker:1", 2);
    // The best of two goes on.
    expect(written(scenario.effects)).toEqual({ tasks: ["worker:0", "worker:2"], parts: [["worker:0"], ["worker:1"]] });
    scenario.crash([]);
    expect(scenario.task("worker:0")).toMatchObject({ trialRung: 1, trialReports: [{ step: 1, value: 1 }] });
    expect(scenario.task("worker:0").trialPause).toBeUndefined();
    expect(scenario.task("worker:1")).toMatchObject({ phase: "stopped", trialPause: expect.any(String) });
  });

  test("lets an executor that is cut off learn that its trial has ended", () => {
    const scenario = running();
    const { containerId, generation } = scenario.task("worker:0");
    const life = { applicationId: APPLICATION, task: "worker:0", containerId, generation };
    expect(isReplaced(scenario.journal, life)).toBe(false);
    completes(scenario, "worker:0");
    expect(isReplaced(scenario.journal, life)).toBe(true);
    expect(isReplaced(scenario.journal, { ...life, task: "worker:4" })).toBe(false);
    expect(isReplaced(scenario.journal, { ...life, applicationId: "application_1_0002" })).toBe(false);
  });
});

describe("a snapshot of a search whose trials are gangs", () => {
  const ps = role("ps", 1, { resource: { memoryMiB: 2048, vcores: 1, others: {} } });
  const ofThree = (change: Partial<Search> = {}) => {
    const job = jobSpec([role("worker", 2), ps]);
    const scenario = new Scenario(searchRun(job, { ...search, ...change }), APPLICATION);
    scenario.register();
    scenario.allocateAll();
    startAll(scenario);
    return scenario;
  };
  const ends = (scenario: Scenario, trial: number) => {
    scenario.exits(`worker:${2 * trial}`);
    scenario.exits(`worker:${2 * trial + 1}`);
    scenario.stops(`ps:${trial}`);
    startAll(scenario);
    scenario.after(120_000);
  };
  const tasksOf = (...trials: number[]) =>
    trials.flatMap((trial) => [`worker:${2 * trial}`, `worker:${2 * trial + 1}`, `ps:${trial}`]);

  test("has the running trials and the first one, whose roles have what is known about all; each trial that has ended is written once", () => {
    const scenario = ofThree();
    expect(written(scenario.effects)).toEqual({ tasks: tasksOf(0, 1), parts: [] });
    for (const trial of [0, 1, 2]) {
      ends(scenario, trial);
    }
    // Until then it might still have to be stopped.
    expect(written(scenario.effects)).toEqual({ tasks: tasksOf(0, 2, 3, 4), parts: [tasksOf(1)] });
    ends(scenario, 3);
    expect(written(scenario.effects)).toEqual({ tasks: tasksOf(0, 3, 4), parts: [tasksOf(1), tasksOf(2)] });
    const { snapshot = "" } = scenario.effects.findLast((effect) => effect.type === "journal") ?? {};
    const { gangs, roles } = JSON.parse(snapshot);
    expect(scenario.journal).toMatchObject({
      over: [
        ["worker", 2, 5],
        ["ps", 1, 2],
      ],
    });
    expect(gangs.map(({ position }: { readonly position: number }) => position)).toEqual([0, 3, 4]);
    expect(roles).toHaveLength(6);
    const { containerId, generation } = scenario.task("ps:2");
    const life = { applicationId: APPLICATION, task: "ps:2", containerId, generation };
    expect(isReplaced(scenario.journal, life)).toBe(true);
    expect(isReplaced(scenario.journal, { ...life, task: "worker:6" })).toBe(false);
  });

  test("is complete for the next attempt", () => {
    const scenario = ofThree();
    for (const trial of [0, 1, 2]) {
      ends(scenario, trial);
    }
    const ofFirst = ({ tasks, gangs, roles }: CoreState) =>
      JSON.parse(JSON.stringify([tasks.slice(0, 6), gangs.slice(0, 2), roles.slice(0, 4)]));
    const before = ofFirst(scenario.core.state);
    scenario.crash([]);
    expect(ofFirst(scenario.core.state)).toEqual(before);
    expect(scenario.core.state.gangs).toHaveLength(5);
  });

  test("has a trial itself as long as one of its executors may upload what it left", () => {
    const carrier = { output: { localDir: "results", dir: "hdfs:///out" }, outputRequired: false, timeoutMs: 600_000 };
    const scenario = new Scenario(searchRun(jobSpec([role("worker", 2)], { carrier }), search), APPLICATION);
    scenario.toRunning();
    scenario.exits("worker:2");
    scenario.exits("worker:3");
    scenario.after(120_000);
    scenario.completes(scenario.task("worker:2").containerId, 0);
    scenario.after(1_000);
    expect(written(scenario.effects).parts).toEqual([]);
    scenario.completes(scenario.task("worker:3").containerId, 0);
    scenario.after(1_000);
    expect(written(scenario.effects).parts).toEqual([["worker:2", "worker:3"]]);
  });

  test("has ended trials beside it as soon as they are a 64th of all trials, however many tasks each has", () => {
    const scenario = ofThree({ maxTrials: 128 });
    for (const trial of [0, 1, 2]) {
      ends(scenario, trial);
    }
    expect(written(scenario.effects).parts).toEqual([]);
    ends(scenario, 3);
    expect(written(scenario.effects).parts).toEqual([tasksOf(1, 2)]);
  });

  test("of a search that is decided leaves the trials that ended before as they ended", () => {
    const scenario = ofThree({ goal: 1 });
    ends(scenario, 0);
    ends(scenario, 1);
    scenario.journalAnswers = false;
    const { containerId, generation } = scenario.task("worker:4");
    const atMs = scenario.nowMs;
    scenario.on({
      type: "child-progress",
      task: "worker:4",
      containerId,
      generation,
      step: 1,
      atMs,
      metrics: { loss: 1 },
    });
    scenario.journalAnswers = true;
    scenario.on({ type: "journal-written", sequence: scenario.core.state.journal.inFlight });
    ends(scenario, 2);
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
    scenario.crash([]);
    expect(scenario.core.state.gangs.map(({ phase }) => phase)).toEqual(["over", "over", "over", "over", "over"]);
    expect(scenario.task("worker:2").phase).toBe("succeeded");
  });
});

test("the snapshots of other jobs are written whole", () => {
  const scenario = new Scenario(jobSpec([role("worker", 3)]), APPLICATION);
  scenario.toRunning();
  scenario.exits("worker:0");
  expect(written(scenario.effects)).toEqual({ tasks: ["worker:0", "worker:1", "worker:2"], parts: [] });
});
