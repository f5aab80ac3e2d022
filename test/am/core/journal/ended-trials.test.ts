import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
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

/** The ids of the tasks in the last snapshot, and in each part. */
function written(effects: readonly Effect[]) {
  const journals = effects.filter((effect) => effect.type === "journal");
  const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);
  return {
    tasks: idsOf(JSON.parse(journals.at(-1)?.snapshot ?? "").tasks),
    parts: journals.flatMap(({ part }) => (part === undefined ? [] : [idsOf(JSON.parse(part))])),
  };
}

describe("a snapshot of a search", () => {
  test("has of the trials that have not begun the first alone, and each trial that has ended is written once", () => {
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

  test("is whole for the next attempt, which goes on with the trials that run and repeats none", () => {
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

  test("is followed by what ended again where it could not be written", () => {
    const scenario = running();
    scenario.after(1_000);
    scenario.journalAnswers = false;
    completes(scenario, "worker:0");
    while (!("worker:0" in scenario.core.state.journal.apart)) {
      scenario.on({ type: "journal-written", sequence: scenario.core.state.journal.inFlight });
      scenario.after(1_000);
    }
    const failed = scenario.core.state.journal.inFlight;
    scenario.journalAnswers = true;
    scenario.on({ type: "journal-failed", sequence: failed, message: "safe mode" });
    scenario.after(10_000);
    expect(written(scenario.effects).parts).toEqual([["worker:0"], ["worker:0"]]);
    expect(scenario.journal).toMatchObject({ parts: [failed + 1] });
  });

  test("keeps trials that pause, which may go on", () => {
    const budget = { min: 1, max: 4, factor: 2 };
    const scenario = running({ stop: "asha-promotion", budget });
    const { containerId, generation } = scenario.task("worker:0");
    const atMs = scenario.nowMs;
    scenario.on({
      type: "child-progress",
      task: "worker:0",
      containerId,
      generation,
      step: 1,
      atMs,
      metrics: { loss: 1 },
    });
    scenario.stops("worker:0");
    startAll(scenario);
    scenario.after(1_000);
    expect(written(scenario.effects)).toMatchObject({ tasks: expect.arrayContaining(["worker:0"]), parts: [] });
  });

  test("tells an executor that is cut off that its trial has ended", () => {
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

test("other jobs are written whole", () => {
  const scenario = new Scenario(jobSpec([role("worker", 3)]), APPLICATION);
  scenario.toRunning();
  scenario.exits("worker:0");
  expect(written(scenario.effects)).toEqual({ tasks: ["worker:0", "worker:1", "worker:2"], parts: [] });
});
