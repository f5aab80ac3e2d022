import { describe, expect, test } from "@jest/globals";
import { add, roundedUp, subtract, sumOf, times, typesBeyond, typeWords, wholeJob } from "../../src/job/amounts.ts";
import { aJobSpec, aRole } from "../support/job-spec.ts";

const one = { memoryMiB: 1_024, vcores: 2, others: { "yarn.io/gpu": 1 } };
const other = { memoryMiB: 512, vcores: 3, others: { "yarn.io/fpga": 4 } };

describe("amounts of resources", () => {
  test("are added and multiplied by their types", () => {
    const both = { memoryMiB: 1_536, vcores: 5, others: { "yarn.io/gpu": 1, "yarn.io/fpga": 4 } };
    expect(add(one, other)).toEqual(both);
    expect(times(3, one)).toEqual({ memoryMiB: 3_072, vcores: 6, others: { "yarn.io/gpu": 3 } });
    expect(sumOf([])).toEqual({ memoryMiB: 0, vcores: 0, others: {} });
    expect(sumOf([one, other])).toEqual(both);
  });

  test("are never below nothing when one is taken from another", () => {
    expect(subtract(one, other)).toEqual({
      memoryMiB: 512,
      vcores: 0,
      others: { "yarn.io/gpu": 1, "yarn.io/fpga": 0 },
    });
  });

  test("are beyond a limit in the types of which there is less", () => {
    expect(typesBeyond(one, one)).toEqual([]);
    expect(typesBeyond(other, one)).toEqual([
      { type: "vcores", wanted: 3, limit: 2 },
      { type: "yarn.io/fpga", wanted: 4, limit: 0 },
    ]);
    expect(typesBeyond({ ...one, memoryMiB: 1_025 }, one)).toEqual([
      { type: "memory-mb", wanted: 1_025, limit: 1_024 },
    ]);
  });

  test.each([
    ["memory-mb", 1_536, "1.5 GiB of memory"],
    ["vcores", 1, "1 core"],
    ["yarn.io/gpu", 2, "2 GPUs"],
    ["yarn.io/fpga", 2, "2 yarn.io/fpga"],
  ])("of %s are told with their unit", (type, amount, words) => {
    expect(typeWords(type, amount)).toBe(words);
  });

  test("of a whole job are those of all its tasks and of its ApplicationMaster", () => {
    const am = { resource: { memoryMiB: 100, vcores: 1, others: {} }, files: [] };
    const roles = [aRole("worker", 3, { resource: one }), aRole("ps", 1, { resource: other })];
    expect(wholeJob(aJobSpec({ am, roles }))).toEqual({
      containers: 5,
      resource: { memoryMiB: 3_684, vcores: 10, others: { "yarn.io/gpu": 3, "yarn.io/fpga": 4 } },
    });
  });

  test.each([
    [1, 1_024],
    [1_024, 1_024],
    [1_025, 1_536],
    [1_536, 1_536],
  ])("are rounded up as the scheduler does, %i MiB to %i MiB", (amount, rounded) => {
    expect(roundedUp(amount, { least: 1_024, step: 512 })).toBe(rounded);
  });
});
