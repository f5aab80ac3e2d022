import { describe, expect, test } from "@jest/globals";
import { trialOf } from "../../../../am/core/policies/trials.ts";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { searchFiles } from "../../../../am/core/status/search-files.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const search: Search = {
  ...searchOf({ x: "float 0 1" }),
  algorithm: "random",
  maxTrials: 4,
  maxParallel: 2,
  keepCheckpoints: 1,
};

/** Executors store checkpoints below a folder of the cluster. */
const storing = {
  checkpointDir: "hdfs:///c",
  carrier: { outputRequired: false, timeoutMs: 60_000, checkpoints: { localDir: "c", keep: 1 } },
};

function spec(change: Partial<Search> = {}, job: JobSpec = jobSpec([role("worker", 1)])): JobSpec {
  return searchRun({ ...job, ...storing }, { ...search, ...change });
}

const removed = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "remove-checkpoints" ? effect.tasks : []));

/** A trial reports its loss, and that a checkpoint of it is stored. */
function reports(scenario: Scenario, task: string, step: number, loss: number): Effect[] {
  const { containerId, generation } = scenario.task(task);
  const atMs = scenario.nowMs;
  const checkpoint = { path: `hdfs:///c/application_1_0001/${task.replace(":", "-")}/step-${step}-at-1`, step, atMs };
  return scenario.on({
    type: "child-progress",
    ...{ task, containerId, generation, step, atMs, metrics: { loss }, checkpoint },
  });
}

/** Its program ends, and then its container, when all that it left is stored. */
function ends(scenario: Scenario, task: string): Effect[] {
  const { containerId } = scenario.task(task);
  return [...scenario.exits(task), ...scenario.completes(containerId, 0)];
}

function next(scenario: Scenario, task: string): void {
  scenario.allocateAll();
  scenario.ready(task);
  scenario.startedAll();
}

/** Two trials run. */
function running(change: Partial<Search> = {}) {
  const scenario = new Scenario(spec(change));
  scenario.toRunning();
  return scenario;
}

const stored = (scenario: Scenario) => scenario.core.state.tasks.map(({ checkpoint }) => checkpoint?.step);

describe("the stored checkpoints of a search's trials", () => {
  test("are removed once each, for trials that are not among the best of those that have ended", () => {
    const scenario = running();
    reports(scenario, "worker:0", 3, 0.5);
    reports(scenario, "worker:1", 3, 0.7);
    expect(removed(ends(scenario, "worker:0"))).toEqual([]);
    const effects = ends(scenario, "worker:1");
    expect(removed(effects)).toEqual(["worker:1"]);
    expect(effects).toContainEqual({
      ...{ type: "log", level: "info", event: "checkpoints-dropped", fields: { task: "worker:1" } },
      message:
        "The checkpoints of worker:1 are removed: trials that are kept are better (tony.search.keep-checkpoints).",
    });
    expect(stored(scenario)).toEqual([3, undefined, undefined, undefined]);
    next(scenario, "worker:2");
    reports(scenario, "worker:2", 3, 0.1);
    expect(removed(ends(scenario, "worker:2"))).toEqual(["worker:0"]);
    expect(stored(scenario)).toEqual([undefined, undefined, 3, undefined]);
  });

  test("are removed again under the next attempt, for a trial that had ended well before a better one did", () => {
    const scenario = running();
    reports(scenario, "worker:0", 3, 0.5);
    ends(scenario, "worker:0");
    scenario.after(60_000);
    next(scenario, "worker:2");
    reports(scenario, "worker:2", 3, 0.1);
    expect(removed(ends(scenario, "worker:2"))).toEqual(["worker:0"]);
    scenario.after(60_000);
    expect(new Set(removed(scenario.crash([])))).toEqual(new Set(["worker:0"]));
    expect(stored(scenario)).toEqual([undefined, undefined, 3, undefined]);
  });

  test("stay until no container of the trial is left that may still store one", () => {
    const scenario = running();
    reports(scenario, "worker:0", 3, 0.5);
    ends(scenario, "worker:0");
    reports(scenario, "worker:1", 3, 0.7);
    const { containerId } = scenario.task("worker:1");
    expect(removed(scenario.exits("worker:1"))).toEqual([]);
    const last = { path: "hdfs:///c/application_1_0001/worker-1/step-4-at-2", step: 4, atMs: scenario.nowMs };
    const about = { task: "worker:1", containerId, generation: scenario.task("worker:1").generation };
    scenario.on({ type: "child-progress", ...about, step: 4, atMs: scenario.nowMs, checkpoint: last });
    expect(removed(scenario.completes(containerId, 0))).toEqual(["worker:1"]);
    scenario.on({ type: "child-progress", ...about, step: 4, atMs: scenario.nowMs, checkpoint: last });
    expect(scenario.task("worker:1")).not.toHaveProperty("checkpoint");
  });

  test("stay as long as a container of the trial is left, whichever other ones are over", () => {
    const scenario = running();
    reports(scenario, "worker:1", 3, 0.7);
    scenario.exits("worker:1");
    reports(scenario, "worker:0", 3, 0.5);
    expect(removed(ends(scenario, "worker:0"))).toEqual([]);
    expect(removed(scenario.completes(scenario.task("worker:1").containerId, 0))).toEqual(["worker:1"]);
  });

  test("are not removed under the next attempt where none were before", () => {
    const scenario = running();
    scenario.after(1_000);
    expect(scenario.crash([])).not.toContainEqual(expect.objectContaining({ type: "remove-checkpoints" }));
  });

  test("are removed when the journal knows, and again under an attempt whose predecessor may have died before", () => {
    const scenario = running();
    reports(scenario, "worker:0", 3, 0.5);
    ends(scenario, "worker:0");
    reports(scenario, "worker:1", 3, 0.7);
    scenario.after(60_000);
    scenario.exits("worker:1");
    scenario.journalWorks = false;
    expect(removed(scenario.completes(scenario.task("worker:1").containerId, 0))).toEqual([]);
    scenario.journalWorks = true;
    expect(removed(scenario.after(60_000))).toEqual(["worker:1"]);
    next(scenario, "worker:2");
    expect(removed(scenario.crash([]))).toEqual(["worker:1"]);
    expect(stored(scenario)).toEqual([3, undefined, undefined, undefined]);
  });

  test("are removed for all tasks of a trial", () => {
    const scenario = new Scenario(spec({}, jobSpec([role("worker", 1), role("ps", 1)])));
    scenario.toRunning();
    for (const [trial, loss] of [0.5, 0.7].entries()) {
      const ids = ["worker", "ps"].map((name) => scenario.task(`${name}:${trial}`).containerId);
      reports(scenario, `worker:${trial}`, 3, loss);
      scenario.exits(`worker:${trial}`);
      scenario.stops(`ps:${trial}`);
      for (const id of ids) scenario.completes(id, 0);
      scenario.allocateAll();
      scenario.readyAll();
      scenario.startedAll();
    }
    expect(scenario.phases()).toContain("worker:2 running, ps:2 running, worker:3 running");
    expect(removed(scenario.effects)).toEqual(["worker:1", "ps:1"]);
    expect(scenario.core.state.gangs.map(({ checkpoint }) => checkpoint?.step)).toEqual([
      3,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("stay for paused trials as long as these may go on; at the end the job's end removes them, and the result names none", () => {
    const scenario = running({ stop: "asha-promotion", budget: { min: 1, max: 2, factor: 2 }, maxTrials: 2 });
    const pauses = (task: string, loss: number) => {
      reports(scenario, task, 1, loss);
      const { containerId } = scenario.task(task);
      return [...scenario.stops(task), ...scenario.completes(containerId, 0)];
    };
    expect(removed([...pauses("worker:0", 0.5), ...pauses("worker:1", 0.9)])).toEqual([]);
    expect(stored(scenario)).toEqual([1, 1]);
    next(scenario, "worker:0");
    reports(scenario, "worker:0", 2, 0.4);
    ends(scenario, "worker:0");
    expect(scenario.core.state.outcome?.reason.code).toBe("trials-ended");
    expect(trialOf(scenario.task("worker:1")).state).toBe("paused");
    scenario.after(120_000);
    expect(stored(scenario)).toEqual([2, undefined]);
    const files = searchFiles(scenario.core, statusOf(scenario.core, scenario.nowMs));
    expect(files?.["trials.jsonl"].split("\n").map((line) => line.includes("checkpoint"))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("stay where a search that was stopped may go on with them", () => {
    const scenario = running();
    reports(scenario, "worker:0", 3, 0.5);
    reports(scenario, "worker:1", 3, 0.7);
    scenario.on({ type: "stop-requested", reason: "by ada" });
    scenario.stops("worker:0");
    scenario.stops("worker:1");
    scenario.after(120_000);
    expect(stored(scenario)).toEqual([3, 3, undefined, undefined]);
  });

  test("all stay where nothing else is set, and where programs store them themselves", () => {
    const { carrier: _, ...own } = spec();
    for (const job of [searchRun({ ...jobSpec([role("worker", 1)]), ...storing }, withoutLimit()), own]) {
      const scenario = new Scenario(job);
      scenario.toRunning();
      reports(scenario, "worker:0", 3, 0.5);
      reports(scenario, "worker:1", 3, 0.7);
      ends(scenario, "worker:0");
      ends(scenario, "worker:1");
      expect(removed(scenario.effects)).toEqual([]);
      expect(stored(scenario).slice(0, 2)).toEqual([3, 3]);
    }
  });
});

function withoutLimit(): Search {
  const { keepCheckpoints: _, ...all } = search;
  return all;
}
