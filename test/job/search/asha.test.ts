import { describe, expect, test } from "@jest/globals";
import { ashaStop, rungsOf } from "../../../src/job/search/asha.ts";
import type { Trial } from "../../../src/job/search/trials.ts";
import { reporting } from "./support.ts";

describe("rungs", () => {
  // Where ⌊log(max / min) / log(factor)⌋ is one too few in CPython or V8.
  test.each([
    [1, 243, 3, 6],
    [1, 59_049, 3, 11],
    [1, 59_049, 9, 6],
    [1, 1000, 10, 4],
    [1, 1_000_000, 10, 7],
    [2, 80, 3, 4],
    [5, 5, 4, 1],
  ])("from %d to %d by %d are %d", (min, max, factor, count) => {
    const rungs = rungsOf({ min, max, factor });
    expect(rungs).toHaveLength(count);
    expect(rungs.every((rung, index) => rung === min * factor ** index)).toBe(true);
  });
});

describe("successive halving by stopping", () => {
  const budget = { min: 1, max: 9, factor: 3 };
  const downward = { direction: "minimize" } as const;
  const stopOf = (trial: Trial, others: readonly Trial[]) => ashaStop(downward, budget, trial, [...others, trial]);
  const first = [0.5, 0.4, 0.3, 0.6, 0.7].map((value) => reporting([value]));

  test("lets one in three of a rung go on, at least one", () => {
    expect(stopOf(reporting([0.9]), [])).toBeUndefined();
    expect(stopOf(reporting([0.9]), first.slice(0, 1))).toEqual({
      rule: "asha",
      step: 1,
      value: 0.9,
      best: 1,
      trials: 2,
    });
    expect(stopOf(reporting([0.35]), first)).toBeUndefined();
    expect(stopOf(reporting([0.45]), first)).toEqual({ rule: "asha", step: 1, value: 0.45, best: 2, trials: 6 });
    const upward = ashaStop({ direction: "maximize" }, budget, reporting([0.65]), [...first, reporting([0.65])]);
    expect(upward).toMatchObject({ best: 2 });
  });

  test("takes the earlier trial for the better one of equals", () => {
    expect(stopOf(reporting([0.5]), [reporting([0.5])])).toMatchObject({ best: 1 });
    const later = reporting([0.5]);
    const trial = reporting([0.5]);
    expect(ashaStop(downward, budget, trial, [trial, later])).toBeUndefined();
  });

  test("decides when a trial comes to a rung, and never again, and not at the last one", () => {
    const better = [0.1, 0.2].map((value) => reporting([value, value, value]));
    expect(stopOf(reporting([0.9, 0.9]), better)).toBeUndefined();
    expect(stopOf(reporting([0.9, 0.9, 0.9]), better)).toMatchObject({ step: 3, trials: 3 });
    expect(stopOf(reporting(Array.from({ length: 9 }, () => 0.9)), better)).toBeUndefined();
    expect(stopOf(reporting([]), better)).toBeUndefined();
  });

  test("takes the first report behind a rung that was jumped over", () => {
    const jumped: Trial = { ...reporting([]), reports: [{ step: 4, value: 0.9 }] };
    expect(stopOf(jumped, [reporting([0.1, 0.1, 0.1])])).toMatchObject({ step: 3, value: 0.9 });
  });

  test("stops NaN wherever it is compared", () => {
    expect(stopOf(reporting([Number.NaN]), first)).toEqual({ rule: "asha", step: 1, best: 2, trials: 6 });
    expect(stopOf(reporting([Number.NaN]), [])).toEqual({ rule: "asha", step: 1, best: 1, trials: 1 });
    expect(stopOf(reporting([Infinity]), [reporting([Number.NaN])])).toBeUndefined();
  });
});
