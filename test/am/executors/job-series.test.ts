import { expect, test } from "@jest/globals";
import { JobSeries } from "../../../am/executors/job-series.ts";
import { decodeSeries } from "../../../src/history/series/file.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const used = (cpuCores: number, memoryBytes: number) => ({
  memoryBytes,
  maxMemoryBytes: memoryBytes,
  averageMemoryBytes: memoryBytes,
  cpuCores,
  cpuMs: 0,
  processes: 1,
});

test("what tasks used and reported is kept over time, theirs apart from ours", async () => {
  const series = new JobSeries(aJobSpec(), 1_000);
  const gauge = { current: 97, max: 97, average: 97 };
  series.used("worker:0", { ...used(1, 100), gpus: { count: 1, utilization: gauge } }, 2_000);
  series.used("worker:0", used(3, 50), 3_000);
  series.used("worker:0", used(4, 70), 6_000);
  series.reached("worker:0", { step: 10 }, 2_000);
  series.reached("worker:0", { step: 30, metrics: { loss: 0.5, cpu: 9 } }, 12_000);
  const { axis, rows } = decodeSeries(await series.encode("application_1_0001", 1));
  expect(axis).toMatchObject({ applicationId: "application_1_0001", attempt: 1, fromMs: 1_000, spanMs: 5_000 });
  expect(rows).toEqual([
    {
      task: "worker:0",
      memoryLimitBytes: 512 * 1024 ** 2,
      series: [
        { name: "cpu", rule: "mean", first: 0, values: [2, 4] },
        { name: "memory", rule: "most", first: 0, values: [100, 70] },
        { name: "gpu", rule: "mean", first: 0, values: [97] },
        { name: "step", rule: "last", first: 0, values: [10, null, 30] },
        { name: "metric:loss", rule: "mean", first: 2, values: [0.5] },
        { name: "metric:cpu", rule: "mean", first: 2, values: [9] },
      ],
    },
  ]);
});

test("a program's pace is that of its last ten seconds, and begins anew with a program that starts again", () => {
  const series = new JobSeries(aJobSpec(), 0);
  const rateAt = (atMs: number, step: number) => {
    series.reached("worker:0", { step }, atMs);
    return series.rateOf("worker:0");
  };
  expect([rateAt(0, 0), rateAt(9_999, 40), rateAt(10_000, 50)]).toEqual([undefined, undefined, 5]);
  expect([rateAt(19_000, 51), rateAt(20_000, 70)]).toEqual([5, 2]);
  expect([rateAt(25_000, 0), rateAt(34_999, 5), rateAt(35_000, 10)]).toEqual([undefined, undefined, 1]);
  expect(series.rateOf("worker:1")).toBeUndefined();
});

test("each of several GPUs has its own series, and what is read from disks and written to them", () => {
  const series = new JobSeries(aJobSpec(), 1_000);
  const gauge = { current: 50, max: 99, average: 50 };
  const devices = [{ utilization: 99, memory: 80 }, { utilization: 1 }];
  const disk = { readBytesPerSecond: 7, writtenBytesPerSecond: 0 };
  series.used("worker:0", { ...used(1, 100), disk, gpus: { count: 2, utilization: gauge, devices } }, 2_000);
  const values = series.seriesOf("worker:0").series.map((one) => [one.name, one.values[0]]);
  expect(values).toEqual([
    ["cpu", 1],
    ["memory", 100],
    ["gpu", 50],
    ["gpu:0", 99],
    ["gpu-memory:0", 80],
    ["gpu:1", 1],
    ["disk-read", 7],
    ["disk-written", 0],
  ]);
});

test.each([
  ["one alone", 1, 1],
  ["more than eight", 9, 1],
  ["those of more than a thousand tasks", 2, 1_001],
])("GPUs have none: %s", (_which, gpus, instances) => {
  const [worker] = aJobSpec().roles;
  if (worker === undefined) throw new Error("the job has no role");
  const series = new JobSeries({ roles: [{ ...worker, instances }] }, 1_000);
  const devices = Array.from({ length: gpus }, () => ({ utilization: 5 }));
  series.used("worker:0", { ...used(1, 100), gpus: { count: gpus, devices } }, 2_000);
  expect(series.seriesOf("worker:0").series.map(({ name }) => name)).toEqual(["cpu", "memory"]);
});

test("tasks stand in the order of the job, whichever was heard first", async () => {
  const [worker] = aJobSpec().roles;
  if (worker === undefined) throw new Error("the job has no role");
  const series = new JobSeries(
    {
      roles: [
        { ...worker, instances: 11 },
        { ...worker, name: "ps" },
      ],
    },
    1_000,
  );
  for (const task of ["ps:0", "worker:10", "worker:2"]) series.reached(task, { step: 1 }, 2_000);
  const { rows } = decodeSeries(await series.encode("application_1_0001", 1));
  expect(rows.map(({ task }) => task)).toEqual(["worker:2", "worker:10", "ps:0"]);
});
