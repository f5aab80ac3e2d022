import { describe, expect, test } from "@jest/globals";
import { yarnUsage } from "../../portal/yarn-usage.ts";
import { usualRoundings } from "../../src/advice/roundings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { aReport } from "../client/application-report.ts";
import { jobSpec, role } from "../simulation/job.ts";

const none = { memoryMiB: 0, vcores: 0, others: {} };

function usage(memorySeconds: number, vcoreSeconds: number, resourceSeconds: Record<string, number> = {}) {
  return { usedContainers: 0, used: none, needed: none, memorySeconds, vcoreSeconds, resourceSeconds };
}

/** Its ApplicationMaster asks for 512 MiB, which YARN rounds up to a gibibyte. */
function spec(change: Partial<JobSpec["am"]> = {}, gpus = 0): JobSpec {
  const resource = { memoryMiB: 1024, vcores: 1, others: gpus === 0 ? {} : { "yarn.io/gpu": gpus } };
  const base = jobSpec([role("worker", 2, { resource })]);
  return { ...base, am: { ...base.am, resource: { memoryMiB: 512, vcores: 1, others: {} }, ...change } };
}

describe("what tasks held of a job that YARN ended", () => {
  test("is what YARN counted, less what its ApplicationMaster held as YARN rounds it", () => {
    const report = aReport({ launchTimeMs: 10_000, finishTimeMs: 110_000, usage: usage(307_200, 300) });
    expect(yarnUsage(report, spec(), usualRoundings, 12_000)).toEqual({ memoryMiBSeconds: 204_800, vcoreSeconds: 200 });
  });

  test("counts from its history's beginning where YARN does not say when it was launched", () => {
    const report = aReport({ launchTimeMs: 0, finishTimeMs: 110_000, usage: usage(307_200, 300) });
    expect(yarnUsage(report, spec(), usualRoundings, 60_000)).toEqual({ memoryMiBSeconds: 256_000, vcoreSeconds: 250 });
  });

  test("is never less than nothing", () => {
    const report = aReport({ launchTimeMs: 10_000, finishTimeMs: 110_000, usage: usage(1, 1) });
    expect(yarnUsage(report, spec(), usualRoundings, 0)).toEqual({ memoryMiBSeconds: 0, vcoreSeconds: 0 });
  });

  test("has its GPUs, and costs what the job's own prices make of it", () => {
    const gpus = { "yarn.io/gpu": 3_600, "yarn.io/fpga": 9 };
    const report = aReport({ launchTimeMs: 10_000, finishTimeMs: 10_000, usage: usage(0, 7_200, gpus) });
    const priced = spec({ vcoreHourPrice: 0.5, gpuHourPrice: 2, currency: "EUR" }, 1);
    expect(yarnUsage(report, priced, usualRoundings, 0)).toEqual({
      memoryMiBSeconds: 0,
      vcoreSeconds: 7_200,
      gpuSeconds: 3_600,
      cost: { amount: 3, currency: "EUR" },
    });
  });

  test("has its GPUs though some of its roles have none", () => {
    const [worker] = spec({}, 1).roles;
    const roles = [...(worker === undefined ? [] : [worker]), role("ps", 1)];
    const report = aReport({ usage: usage(0, 0, { "yarn.io/gpu": 60 }) });
    expect(yarnUsage(report, { ...spec(), roles }, usualRoundings, 0)).toMatchObject({ gpuSeconds: 60 });
    expect(yarnUsage(report, spec(), usualRoundings, 0)).not.toHaveProperty("gpuSeconds");
  });

  test("is not known where YARN does not tell it, or shows it to others alone", () => {
    expect(yarnUsage(aReport(), spec(), usualRoundings, 0)).toBeUndefined();
    for (const [memorySeconds, vcoreSeconds] of [
      [-1, -1],
      [-1, 1],
      [1, -1],
    ] as const)
      expect(
        yarnUsage(aReport({ usage: usage(memorySeconds, vcoreSeconds) }), spec(), usualRoundings, 0),
      ).toBeUndefined();
  });
});
