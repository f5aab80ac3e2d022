import { expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import { containerTimeWords, idleShare } from "../../../../src/job/search/container-time.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const scenarioOf = (change: Partial<Search>) =>
  new Scenario(searchRun(jobSpec([role("worker", 1)]), { ...searchOf({ x: "float 0 1" }), ...change }));

const timeOf = (scenario: Scenario) => statusOf(scenario.core, scenario.nowMs).search?.containerTime;

function reports(scenario: Scenario, task: string): void {
  const { containerId, generation } = scenario.task(task);
  const metrics = { loss: 1 };
  scenario.on({ type: "child-progress", task, containerId, generation, step: 1, atMs: scenario.nowMs, metrics });
}

test("a container's time before its first program, between two trials and after its last one is counted separately", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1 });
  scenario.register();
  scenario.allocateAll();
  scenario.after(3_000);
  scenario.ready("worker:0");
  scenario.startedAll();
  const started = timeOf(scenario);
  expect(started).toMatchObject({ handOverMs: 0, barrierMs: 0, afterLastMs: 0 });
  expect(started?.startMs).toBe(started?.heldMs);
  expect(started?.startMs).toBeGreaterThanOrEqual(3_000);
  scenario.after(10_000);
  reports(scenario, "worker:0");
  const busyMs = (timeOf(scenario)?.heldMs ?? 0) - (started?.heldMs ?? 0);
  expect(busyMs).toBeGreaterThanOrEqual(10_000);
  expect(timeOf(scenario)?.startMs).toBe(started?.startMs);
  scenario.exits("worker:0");
  scenario.after(500);
  scenario.ready("worker:1");
  scenario.startedAll();
  const next = timeOf(scenario);
  expect(next?.handOverMs).toBeGreaterThanOrEqual(500);
  expect(next?.startMs).toBe(started?.startMs);
  const { containerId } = scenario.task("worker:1");
  reports(scenario, "worker:1");
  scenario.exits("worker:1");
  scenario.after(2_000);
  scenario.completes(containerId, 0);
  expect(timeOf(scenario)?.afterLastMs).toBeGreaterThanOrEqual(2_000);
  expect(timeOf(scenario)?.barrierMs).toBe(0);
});

test("no moment counts twice where the clock is set back", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1 });
  scenario.toRunning();
  const heldMs = () => timeOf(scenario)?.heldMs ?? 0;
  const headroom = { type: "headroom-changed", available: { memoryMiB: 0, vcores: 0, others: {} } } as const;
  scenario.nowMs += 10_000;
  scenario.on(headroom);
  const before = heldMs();
  scenario.nowMs -= 5_000;
  scenario.on(headroom);
  scenario.nowMs += 5_000;
  scenario.on(headroom);
  expect(heldMs()).toBe(before);
});

test("a container's time counts until now, even when nothing has happened for long", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1 });
  scenario.toRunning();
  reports(scenario, "worker:0");
  const counted = timeOf(scenario);
  scenario.nowMs += 60_000;
  expect(timeOf(scenario)).toEqual({ ...counted, heldMs: (counted?.heldMs ?? 0) + 60_000 });
});

test("a container that is given up does nothing any more, though its trial waits for another one", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1 });
  scenario.toRunning();
  const { containerId } = scenario.task("worker:0");
  scenario.vanishes("worker:0");
  const lost = timeOf(scenario);
  scenario.nowMs += 2_000;
  expect(scenario.core.state.containers[containerId]?.phase).toBe("discarded");
  expect(timeOf(scenario)).toMatchObject({ startMs: lost?.startMs, afterLastMs: (lost?.afterLastMs ?? 0) + 2_000 });
});

test("a container that goes back does nothing any more until YARN says that it has ended", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 2 });
  scenario.toRunning();
  for (const task of ["worker:0", "worker:1"]) reports(scenario, task);
  scenario.exits("worker:0");
  expect(scenario.core.state.containers.c1?.phase).toBe("discarded");
  const before = timeOf(scenario);
  scenario.nowMs += 2_000;
  expect(timeOf(scenario)).toEqual({
    ...before,
    heldMs: (before?.heldMs ?? 0) + 4_000,
    afterLastMs: (before?.afterLastMs ?? 0) + 2_000,
  });
});

test("a container that its node ends counts as idle, although its trial waits for another one", () => {
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1 });
  scenario.toRunning();
  const { containerId } = scenario.task("worker:0");
  scenario.on({ type: "executor-lost", task: "worker:0", containerId, cause: "goodbye" });
  const lost = timeOf(scenario);
  scenario.after(2_000);
  scenario.on({ type: "headroom-changed", available: { memoryMiB: 0, vcores: 0, others: {} } });
  expect(scenario.core.state.containers[containerId]?.phase).toBe("terminating");
  expect(timeOf(scenario)).toMatchObject({ startMs: lost?.startMs, afterLastMs: (lost?.afterLastMs ?? 0) + 2_000 });
});

test("a container whose trial has ended waits for results while others are to come, and each is counted", () => {
  const scenario = scenarioOf({ maxTrials: 3, maxParallel: 2 });
  scenario.toRunning();
  for (const task of ["worker:0", "worker:1"]) reports(scenario, task);
  const before = timeOf(scenario);
  scenario.journalWorks = false;
  scenario.exits("worker:0");
  scenario.nowMs += 3_000;
  const after = timeOf(scenario);
  expect((after?.heldMs ?? 0) - (before?.heldMs ?? 0)).toBe(6_000);
  expect(after).toMatchObject({ barrierMs: 3_000, afterLastMs: 0, startMs: before?.startMs });
});

test("a status says how the search chooses and stops its trials", () => {
  const budget = { min: 1, max: 9, factor: 3 };
  const scenario = scenarioOf({ maxTrials: 2, maxParallel: 1, stop: "asha", budget });
  expect(statusOf(scenario.core, scenario.nowMs).search).toMatchObject({
    ...{ algorithm: "random", stop: "asha", budget, maxParallel: 1 },
  });
});

test("a job that is no search counts no container time", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1)]));
  scenario.toRunning();
  expect(scenario.core.state.usage).not.toHaveProperty("time");
});

test("container time is put into words, with the idle share", () => {
  const time = { heldMs: 200_000, startMs: 3_000, handOverMs: 1_000, barrierMs: 0, afterLastMs: 2_000 };
  expect(idleShare(time)).toBe("3.0 %");
  expect(idleShare({ ...time, heldMs: 0 })).toBe("0.0 %");
  expect(containerTimeWords(time)).toMatch(
    /^containers were held for 3 min 20 s in all, 3\.0 % of it idle: start 3 s, hand-over 1 s, waiting for results 0 s, after their last trial 2 s$/,
  );
});
