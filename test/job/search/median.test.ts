import { describe, expect, test } from "@jest/globals";
import { medianStop } from "../../../src/job/search/median.ts";
import { reporting } from "./support.ts";

describe("the median rule", () => {
  const upward = { direction: "maximize" } as const;
  const ended = [
    [1, 2, 3],
    [2, 4, 6],
    [0, 1, 2],
  ].map((values) => reporting(values, "completed"));

  // Their averages by step 2: 1.5, 3 and 0.5.
  test("stops a trial whose best is worse than the median of the others' averages by then", () => {
    expect(medianStop(upward, reporting([1, 1.4]), ended, 3)).toEqual({
      rule: "median",
      step: 2,
      best: 1.4,
      median: 1.5,
      trials: 3,
    });
    expect(medianStop(upward, reporting([1.5, 0]), ended, 3)).toBeUndefined();
    expect(medianStop({ direction: "minimize" }, reporting([1.6, 1.7]), ended, 3)).toMatchObject({ best: 1.6 });
  });

  test("goes by steps, not by the number of reports", () => {
    const rare = { ...reporting([]), reports: [{ step: 2, value: 1.4 }] };
    expect(medianStop(upward, rare, ended, 3)).toMatchObject({ step: 2, median: 1.5 });
  });

  test("has no say while too few have completed, or came as far", () => {
    expect(medianStop(upward, reporting([0, 0]), ended)).toBeUndefined();
    expect(medianStop(upward, reporting([0, 0, 0, 0]), ended, 1)).toBeUndefined();
    const stopped = [reporting([5, 5], "stopped"), reporting([5, 5], "failed"), reporting([5, 5])];
    expect(medianStop(upward, reporting([0, 0]), stopped, 1)).toBeUndefined();
    expect(medianStop(upward, reporting([]), ended, 1)).toBeUndefined();
  });

  test("leaves NaN out, and takes infinities for what they are", () => {
    expect(medianStop(upward, reporting([Number.NaN, Number.NaN]), ended, 3)).toBeUndefined();
    const odd = [...ended, reporting([Number.NaN, 1], "completed")];
    expect(medianStop(upward, reporting([0.2, Number.NaN]), odd, 4)).toMatchObject({
      best: 0.2,
      median: 1.25,
      trials: 4,
    });
    const infinite = [reporting([Infinity], "completed"), reporting([Infinity], "completed")];
    expect(medianStop(upward, reporting([0]), infinite, 2)).toMatchObject({ median: Infinity });
    expect(medianStop(upward, reporting([Infinity]), infinite, 2)).toBeUndefined();
    const both = [reporting([Infinity, -Infinity], "completed")];
    expect(medianStop(upward, reporting([0, 0]), both, 1)).toBeUndefined();
  });
});
