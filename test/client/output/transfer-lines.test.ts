import { expect, test } from "@jest/globals";
import { transferLines } from "../../../client/output/transfer-lines.ts";
import type { JobStatus, Transfer } from "../../../src/job/status.ts";
import { aJobStatus } from "../job-status.ts";

const output: Transfer = {
  what: "output",
  state: "done",
  url: "hdfs://nn/out/application_1_0001/worker-0",
  files: 2,
  bytes: 2048,
  step: 0,
  atMs: 1_000,
  reason: "",
};
const task = (name: `worker:${number}`, ...transfers: Transfer[]) => ({
  task: name,
  state: "succeeded" as const,
  restarts: 0,
  transfers,
});

const linesOf = (job: Partial<JobStatus>) => transferLines(aJobStatus(job));

test("the output of one task has its own address, that of several the folder of all", () => {
  expect(linesOf({ state: "running", nowMs: 0, tasks: [task("worker:0", output)] })).toEqual([
    "output hdfs://nn/out/application_1_0001/worker-0 (2 files, 2 KiB)",
  ]);
  const other = { ...output, url: "hdfs://nn/out/application_1_0001/worker-1" };
  expect(linesOf({ state: "running", nowMs: 0, tasks: [task("worker:0", output), task("worker:1", other)] })).toEqual([
    "output hdfs://nn/out/application_1_0001 (4 files, 4 KiB, of 2 tasks)",
  ]);
});

test("what failed says why, what is under way since when; a checkpoint that is where it stays is said elsewhere", () => {
  const checkpoint: Transfer = { ...output, what: "checkpoint", url: "hdfs://nn/ckpt/step-45-at-1", step: 45 };
  const failed: Transfer = { ...checkpoint, state: "failed", reason: "no space" };
  const underWay: Transfer = { ...output, state: "under-way" };
  const tasks = [task("worker:0", failed, underWay), task("worker:1", checkpoint)];
  expect(linesOf({ state: "finishing", nowMs: 13_000, tasks })).toEqual([
    "worker:0: its checkpoint of step 45 was not stored in hdfs://nn/ckpt/step-45-at-1: no space",
    "worker:0: its output (2 KiB) is being uploaded to hdfs://nn/out/application_1_0001/worker-0, since 12 s",
  ]);
});

test("output of which some files could not be stored is told as not complete, with the reason", () => {
  const incomplete: Transfer = { ...output, state: "incomplete", reason: "model.bin: no space" };
  expect(linesOf({ state: "succeeded", tasks: [task("worker:0", incomplete)] })).toEqual([
    "worker:0: its output was not stored completely in hdfs://nn/out/application_1_0001/worker-0: model.bin: no space",
  ]);
});

test("what began by a clock that is ahead of the ApplicationMaster's began just now", () => {
  const underWay: Transfer = { ...output, state: "under-way", atMs: 9_000 };
  expect(linesOf({ state: "running", nowMs: 4_000, tasks: [task("worker:0", underWay)] })[0]).toMatch(/, since 0 s$/);
});

test("a task that began with an earlier checkpoint says why", () => {
  const reason = "began with the checkpoint of step 10, as a later one cannot be used: step-20-at-2/a is not there";
  const restored: Transfer = { ...output, what: "restored", url: "hdfs://nn/ckpt/step-10-at-1", step: 10, reason };
  const tasks = [task("worker:0", restored)];
  expect(linesOf({ state: "running", nowMs: 13_000, tasks })).toEqual([`worker:0 ${reason}`]);
});

test("tasks that left no file are told beside the others' output, or in a line where nobody left any", () => {
  const reason = "no file was left in results (tony.output.local-dir)";
  const empty: Transfer = { ...output, state: "empty", files: 0, bytes: 0, reason };
  const tasks = [task("worker:0", output), task("worker:1", empty), task("worker:2", empty), task("worker:3", empty)];
  expect(linesOf({ state: "succeeded", nowMs: 0, tasks })).toEqual([
    "output hdfs://nn/out/application_1_0001/worker-0 (2 files, 2 KiB; worker:1 to worker:3 left none)",
  ]);
  expect(linesOf({ state: "succeeded", nowMs: 0, tasks: tasks.slice(1) })).toEqual([
    "worker:1 to worker:3: no file was left in results (tony.output.local-dir)",
  ]);
});

test.each(["succeeded", "failed", "killed"] as const)(
  "an upload that the job's end left behind is not said to be under way: %s",
  (state) => {
    const underWay: Transfer = { ...output, state: "under-way" };
    expect(linesOf({ state, nowMs: 13_000, tasks: [task("worker:0", underWay)] })).toEqual([
      "worker:0: its output (2 KiB) was not uploaded completely to hdfs://nn/out/application_1_0001/worker-0: its container ended first",
    ]);
  },
);

test("tasks of a search are called by their trials", () => {
  const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
  const failed = { ...output, state: "failed", reason: "no room" } as const;
  const [line] = linesOf({ search, tasks: [task("worker:0", failed)] });
  expect(line).toMatch(/^trial:0: its output was not stored /);
});
