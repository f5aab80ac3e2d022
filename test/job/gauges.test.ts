import { describe, expect, test } from "@jest/globals";
import { jobGauges, taskGauges } from "../../src/job/gauges.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { aJobStatus } from "../client/job-status.ts";

const MIB = 1024 ** 2;
const gauge = (current: number) => ({ current, max: 99, average: 77 });

/** What each gauge says of a job, by its name. */
function said(status: JobStatus): Readonly<Record<string, unknown>> {
  return Object.fromEntries(jobGauges(status).map(({ name, points }) => [name, points]));
}

const worker = (index: number, changes: Partial<TaskStatus> = {}): TaskStatus => {
  return { task: `worker:${index}`, state: "running", restarts: 0, ...changes };
};

describe("what a job uses and reports", () => {
  const tasks = [
    worker(0, {
      ...{ memoryBytes: 100, cpuCores: 0.5, step: 40, metrics: { loss: 0.25, bad: Number.NaN } },
      disk: { readBytesPerSecond: 7, writtenBytesPerSecond: 1 },
      gpus: {
        ...{ count: 2, utilization: gauge(60), memory: gauge(10) },
        devices: [{ utilization: 80 }, { utilization: 40 }, { memory: 1 }],
      },
    }),
    worker(1, {
      ...{ memoryBytes: 300, cpuCores: 1.5, step: 30, metrics: { loss: 9 } },
      disk: { readBytesPerSecond: 5, writtenBytesPerSecond: 2 },
      gpus: { count: 2, utilization: gauge(20), memory: gauge(30), devices: [{ utilization: 30 }] },
    }),
    worker(2, { state: "succeeded", gpus: { count: 1, utilization: gauge(0), devices: [{ utilization: 0 }] } }),
    { ...worker(0), task: "ps:0" },
    { ...worker(0, { memoryBytes: 5 }), task: "worker-b:0" },
  ];
  const usage = { memoryMiBSeconds: 640, vcoreSeconds: 80 };

  test("is told by role: sums, averages, and the task that has most or least", () => {
    const waits = [{ ...aWait(), what: "one" }, aWait()];
    expect(said(aJobStatus({ tasks, usage, waits, generation: 3 }))).toEqual({
      "tony.tasks": [
        [{ role: "worker", state: "running" }, 2],
        [{ role: "worker", state: "succeeded" }, 1],
        [{ role: "ps", state: "running" }, 1],
      ],
      "tony.memory.usage": [[{ role: "worker" }, 400]],
      "tony.memory.usage.max": [[{ role: "worker" }, 300]],
      "tony.memory.limit": [
        [{ role: "worker" }, 4096 * MIB],
        [{ role: "ps" }, 4096 * MIB],
      ],
      "tony.cpu.usage": [[{ role: "worker" }, 2]],
      "tony.disk.read": [[{ role: "worker" }, 12]],
      "tony.disk.written": [[{ role: "worker" }, 3]],
      "tony.gpu.utilization": [[{ role: "worker" }, 0.4]],
      "tony.gpu.utilization.min": [[{ role: "worker" }, 0.3]],
      "tony.gpu.memory": [[{ role: "worker" }, 0.2]],
      "tony.step.min": [[{ role: "worker" }, 30]],
      "tony.step.max": [[{ role: "worker" }, 40]],
      "tony.program.metric": [[{ role: "worker", metric: "loss" }, 0.25]],
      "tony.generation": [[{}, 3]],
      "tony.waits": [[{}, 2]],
      "tony.held.memory": [[{}, 640]],
      "tony.held.vcores": [[{}, 80]],
    });
  });

  test("is left out where nothing is known of it", () => {
    expect(Object.keys(said(aJobStatus({ tasks: [worker(0)] })))).toEqual([
      ...["tony.tasks", "tony.memory.limit", "tony.generation", "tony.waits", "tony.held.memory", "tony.held.vcores"],
    ]);
  });

  test("is told of each task, too; of its GPUs only while its program runs", () => {
    expect(taskGauges(aJobStatus({ tasks: tasks.slice(0, 3) }))).toEqual([
      { task: "worker:0", memoryBytes: 100, cpuCores: 0.5, gpu: 60, step: 40 },
      { task: "worker:1", memoryBytes: 300, cpuCores: 1.5, gpu: 20, step: 30 },
      { task: "worker:2" },
    ]);
  });
});

function aWait(): JobStatus["waits"][number] {
  return {
    reason: { code: "gang", setting: { key: "k" } },
    what: "two",
    cause: "",
    sinceMs: 0,
    delays: [],
    reasons: [],
  };
}
