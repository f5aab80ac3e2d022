import { describe, expect, test } from "@jest/globals";
import { gpuPeak, memoryPeak, peakWords } from "../../../client/output/use-words.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, role } from "../job-status.ts";

const gibibyte = 1_073_741_824;
const { roles } = aJobStatus();
const worker = (index: number, changes: Partial<TaskStatus>): TaskStatus => ({
  task: `worker:${index}`,
  state: "succeeded",
  restarts: 0,
  ...changes,
});
const gpus = (max: number) => ({ count: 2, utilization: { current: 10, average: 20, max } });

describe("what a task used at most", () => {
  test("is told beside what its container has, where that is known", () => {
    expect(memoryPeak(worker(0, { maxMemoryBytes: 3.5 * gibibyte }), [])).toBe("3.5 GiB");
    expect(memoryPeak(worker(0, { maxMemoryBytes: 3.5 * gibibyte }), roles)).toBe("3.5 GiB of 4 GiB");
    expect(memoryPeak(worker(0, {}), roles)).toBeUndefined();
  });

  test("is told beside what its own role has, where another's name begins the same", () => {
    const [small, large] = [role("worker", 1), { ...role("worker-large", 1), memoryMiB: 65_536 }];
    const used = { state: "running", restarts: 0, maxMemoryBytes: 3 * gibibyte } as const;
    for (const both of [
      [small, large],
      [large, small],
    ]) {
      expect(memoryPeak({ task: "worker-large:0", ...used }, both)).toBe("3 GiB of 64 GiB");
      expect(memoryPeak({ task: "worker:0", ...used }, both)).toBe("3 GiB of 4 GiB");
    }
  });

  test("of its GPUs is how busy one of them was", () => {
    expect(gpuPeak(worker(0, { gpus: gpus(96.6) }))).toBe("2, at most 97 % busy");
    expect(gpuPeak(worker(0, { gpus: { count: 1 } }))).toBe("1");
    expect(gpuPeak(worker(0, {}))).toBeUndefined();
  });
});

describe("what a job used at most", () => {
  test("is that of the task that came closest to its limit, and of the busiest GPU", () => {
    const tasks = [
      worker(0, { maxMemoryBytes: gibibyte, gpus: gpus(40) }),
      worker(1, { maxMemoryBytes: 3 * gibibyte, gpus: gpus(97) }),
    ];
    expect(peakWords({ tasks, roles })).toEqual(["memory peak 3 GiB of 4 GiB (worker:1)", "4 GPUs, at most 97 % busy"]);
  });

  test("is not told where nothing was measured", () => {
    expect(peakWords(aJobStatus())).toEqual([]);
    expect(peakWords({ tasks: [worker(0, { gpus: { count: 1 } })], roles })).toEqual([]);
  });
});
