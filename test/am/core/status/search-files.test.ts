import { expect, test } from "@jest/globals";
import { searchFiles, trialLines } from "../../../../am/core/status/search-files.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import { readTrialLine, trialOfLine } from "../../../../src/job/search/trial-line.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const search: Search = {
  ...searchOf({ x: "float 0 1", kind: "choice 1 b" }),
  ...{ stop: "asha", budget: { min: 1, max: 4, factor: 2 }, maxTrials: 4, maxParallel: 2 },
  points: [
    { x: 0.25, kind: 1 },
    { x: 0.5, kind: "b" },
    { x: 0.75, kind: 1 },
  ],
};

/** Of two trials that ran one is stopped, one completes; the next one fails, and one runs when the search is killed. */
function ended() {
  const scenario = new Scenario(searchRun(jobSpec([role("worker", 1)]), search));
  const report = (task: string, step: number, loss: number, checkpoint?: string) => {
    const { containerId, generation } = scenario.task(task);
    const atMs = scenario.nowMs;
    const saved = checkpoint === undefined ? {} : { checkpoint: { path: checkpoint, step, atMs } };
    scenario.on({
      type: "child-progress",
      ...{ task, containerId, generation, step, atMs, metrics: { loss }, ...saved },
    });
  };
  scenario.toRunning();
  report("worker:0", 1, 0.5, "hdfs:///c/0");
  report("worker:1", 1, Number.NaN);
  scenario.stops("worker:1");
  scenario.after(2_000);
  scenario.exits("worker:0");
  for (const task of ["worker:2", "worker:3"]) scenario.ready(task);
  scenario.startedAll();
  scenario.exits("worker:2", { exitCode: 1, traceback: "KeyError: 'a'", errorSummary: "KeyError: 'a'" });
  scenario.on({ type: "stop-requested", reason: "killed by ada" });
  const status = statusOf(scenario.core, scenario.nowMs);
  const files = searchFiles(scenario.core, status);
  // The checkpoints are of its trials.
  expect(status).not.toHaveProperty("checkpoint");
  return {
    trials: files?.["trials.jsonl"].trim().split("\n") ?? [],
    result: JSON.parse(files?.["result.json"] ?? ""),
    lines: trialLines(scenario.core, status),
    applicationId: status.applicationId,
  };
}

test("each trial is a line that can be read back, with its result", () => {
  const { applicationId, trials, lines } = ended();
  expect(trials.map((line) => JSON.parse(line))).toEqual(lines);
  expect(trials.map((line) => readTrialLine(line))).toMatchObject([
    { number: 0, params: { x: 0.25, kind: 1 }, state: "completed", value: 0.5, step: 1, checkpoint: "hdfs:///c/0" },
    {
      number: 1,
      params: { x: 0.5, kind: "b" },
      state: "stopped",
      value: "NaN",
      why: expect.stringContaining("its NaN"),
    },
    {
      number: 2,
      params: { x: 0.75, kind: 1 },
      state: "failed",
      error: expect.stringMatching(/exited 1 .*KeyError: 'a'/),
    },
    { number: 3, state: "interrupted" },
  ]);
  expect(JSON.parse(trials[0] ?? "")).toMatchObject({ durationMs: expect.any(Number), reports: [[1, 0.5]] });
  expect(lines.map(({ application }) => application)).toEqual(Array(4).fill(applicationId));
  const { metric, direction } = search;
  const space = { x: "float 0 1", kind: "choice 1 b" };
  expect(lines.map((line) => line.search)).toEqual([{ metric, direction, space }, ...Array(3).fill(undefined)]);
  expect(JSON.parse(trials[2] ?? "").lines).toEqual(["KeyError: 'a'"]);
  expect(trials.map((line) => trialOfLine(readTrialLine(line)).state)).toEqual([
    "completed",
    "stopped",
    "failed",
    "running",
  ]);
});

test("the result has the best trial, how many trials ended in which way, and what was searched", () => {
  const { result } = ended();
  expect(result).toMatchObject({
    resultVersion: 1,
    result: "killed",
    summary: "killed by ada",
    best: { number: 0, params: { x: 0.25, kind: 1 }, value: 0.5, checkpoint: "hdfs:///c/0" },
    counts: { completed: 1, stopped: 1, failed: 1, interrupted: 1 },
    search: { metric: "loss", direction: "minimize", seed: 0, space: { x: "float 0 1", kind: "choice 1 b" } },
  });
});

test("a job that is no search leaves no such files", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1)]));
  expect(searchFiles(scenario.core, statusOf(scenario.core, 0))).toBeUndefined();
  expect(trialLines(scenario.core, { applicationId: "b" })).toEqual([]);
});
