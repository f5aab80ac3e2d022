import { describe, expect, test } from "@jest/globals";
import { bracketsOf, hyperbandStart, roundOf } from "../../../src/job/search/hyperband.ts";
import { nextPromotion, pausedRung, pausingOf, standingOf } from "../../../src/job/search/promotion.ts";
import { stopOf } from "../../../src/job/search/stop.ts";
import type { Budget, Pausing, Search, Trial } from "../../../src/job/search/trials.ts";
import { searchOf } from "./support.ts";

const nine: Budget = { min: 1, max: 9, factor: 3 };

function pausing(stop: Search["stop"], total: number, budget: Budget = nine): Pausing {
  const found = pausingOf({ ...searchOf({ x: "float 0 1" }), stop, budget }, total);
  if (found === undefined) throw new Error(`trials do not pause with ${stop}`);
  return found;
}

/** A trial that waits at a rung, by its place; it reported one value at each step up to there. */
function waiting(value: number, rung = 0, { rungs }: Pausing = pausing("asha-promotion", 9)): Trial {
  return { params: {}, state: "paused", rung, reports: rungs.slice(0, rung + 1).map((step) => ({ step, value })) };
}

const reportsAt = (trial: Trial, step: number, value: number): Trial => ({
  ...trial,
  reports: [...(trial.reports ?? []), { step, value }],
});

describe("trials that pause", () => {
  test("are those of two rules, which need rungs; these stop nobody for good", () => {
    const search = { ...searchOf({ x: "float 0 1" }), budget: nine };
    const rules = (["none", "median", "asha", "asha-promotion", "hyperband"] as const).filter(
      (stop) => pausingOf({ ...search, stop }, 9) !== undefined,
    );
    expect(rules).toEqual(["asha-promotion", "hyperband"]);
    expect(pausingOf({ ...searchOf({ x: "float 0 1" }), stop: "hyperband" }, 9)).toBeUndefined();
    expect(stopOf({ ...search, stop: "hyperband" }, waiting(1), [waiting(0), waiting(1)])).toBeUndefined();
  });

  test("pause by the first report at or behind their rung, with NaN as no value; the last rung is no pause", () => {
    const rule = pausing("asha-promotion", 9);
    const running: Trial = { params: {}, state: "running" };
    const at = (trial: Trial) => standingOf(rule, 1, [waiting(0.1), trial]);
    expect(at(running)).toEqual({ rung: 0 });
    expect(at(reportsAt(running, 1, 0.5))).toEqual({ rung: 0, pause: { step: 1, value: 0.5 } });
    expect(at(reportsAt(running, 2, 0.5))).toEqual({ rung: 0, pause: { step: 1, value: 0.5 } });
    expect(at(reportsAt(running, 1, Number.NaN))).toEqual({ rung: 0, pause: { step: 1 } });
    expect(at({ ...reportsAt(running, 9, 0.5), rung: 2 })).toEqual({ rung: 2 });
  });

  test("do not pause where they would be the next to go on, however many rungs they jumped over", () => {
    const rule = pausing("asha-promotion", 9);
    const others = [waiting(0.4), waiting(0.5)];
    const running: Trial = { params: {}, state: "running" };
    expect(standingOf(rule, 2, [...others, reportsAt(running, 1, 0.3)])).toEqual({ rung: 1 });
    expect(standingOf(rule, 2, [...others, reportsAt(running, 1, 0.6)])).toMatchObject({ rung: 0, pause: { step: 1 } });
    const jumped = reportsAt(running, 4, 0.3);
    expect(standingOf(rule, 2, [...others, jumped])).toEqual({ rung: 1, pause: { step: 3, value: 0.3 } });
  });

  test("of an earlier search pause at the last rung that they came to, which is never the end of their programs", () => {
    const rule = pausing("asha-promotion", 9);
    const at = (...steps: number[]) =>
      pausedRung(rule, { params: {}, state: "paused", reports: steps.map((step) => ({ step, value: 1 })) });
    expect([at(), at(1), at(1, 2), at(1, 3), at(1, 3, 9)]).toEqual([0, 0, 0, 1, 1]);
    expect(pausedRung(rule, { params: {}, state: "paused", step: 4 })).toBe(1);
  });
});

describe("ASHA by promotion", () => {
  const rule = pausing("asha-promotion", 9);
  const next = (...trials: readonly Trial[]) => nextPromotion(rule, trials);

  test("promotes nobody before `factor` have come, then the best of a third, whatever was promoted before", () => {
    expect(next()).toBeUndefined();
    expect(next(waiting(1), waiting(2))).toBeUndefined();
    expect(next(waiting(3), waiting(1), waiting(2))).toBe(1);
    const promoted: Trial = { ...waiting(1), state: "running", rung: 1 };
    expect(next(waiting(3), promoted, waiting(2))).toBeUndefined();
    const later = [waiting(0.5), waiting(7), waiting(8)];
    expect(next(waiting(3), promoted, waiting(2), ...later)).toBe(3);
  });

  test("looks at the highest rung first", () => {
    const second = [waiting(1, 1), waiting(2, 1), waiting(3, 1)];
    expect(next(...second, ...Array.from({ length: 9 }, () => waiting(0)))).toBe(0);
  });

  test("takes the earlier of equals, the larger one to maximize, and never NaN or what failed", () => {
    expect(next(waiting(1), waiting(1), waiting(1))).toBe(0);
    const upward = { ...rule, direction: "maximize" } as const;
    expect(nextPromotion(upward, [waiting(1), waiting(3), waiting(2)])).toBe(1);
    expect(next(waiting(Number.NaN), waiting(Number.NaN), waiting(Number.NaN))).toBeUndefined();
    expect(next({ ...waiting(0), state: "failed" }, waiting(2), waiting(1))).toBe(2);
  });

  test("promotes the best one of few when no other trial comes, so that one at least is trained to the end", () => {
    const last = { ...rule, total: 2 };
    const running: Trial = { params: {}, state: "running" };
    expect(nextPromotion(last, [waiting(2), running])).toBeUndefined();
    expect(nextPromotion(last, [waiting(2), waiting(1)])).toBe(1);
    expect(nextPromotion(last, [waiting(2), { ...waiting(1), rung: 1 }])).toBeUndefined();
    expect(nextPromotion(last, [waiting(2), { ...waiting(1), state: "failed" }])).toBe(0);
  });
});

describe("hyperband", () => {
  // ⌈(s_max + 1) / (s + 1) · η^s⌉ trials at R · η^-s; each rung keeps one in η.
  test("has the brackets of the paper for R = 81, η = 3", () => {
    const { rungs } = pausing("hyperband", 143, { min: 1, max: 81, factor: 3 });
    const table = bracketsOf(rungs.length, 3).map(({ rung, trials }) =>
      rungs.slice(rung).map((step, index) => `${Math.floor(trials / 3 ** index)}@${step}`),
    );
    expect(table).toEqual([
      ["81@1", "27@3", "9@9", "3@27", "1@81"],
      ["34@3", "11@9", "3@27", "1@81"],
      ["15@9", "5@27", "1@81"],
      ["8@27", "2@81"],
      ["5@81"],
    ]);
    expect(roundOf(5, 3)).toBe(143);
  });

  test("begins each trial at its bracket's rung, round after round", () => {
    const rule = pausing("hyperband", 60);
    expect(bracketsOf(3, 3).map(({ trials }) => trials)).toEqual([9, 5, 3]);
    const starts = [0, 8, 9, 13, 14, 16, 17, 26].map((number) => hyperbandStart(rule, number));
    expect(starts).toEqual([0, 0, 1, 1, 2, 2, 0, 1]);
  });

  test("promotes as soon as nobody who has yet to come can displace a trial", () => {
    const rule = pausing("hyperband", 9);
    const there = [5, 4, 3, 2, 1, 6].map((value) => waiting(value));
    const running: Trial = { params: {}, state: "running" };
    expect(nextPromotion(rule, [...there, running, running, running])).toBeUndefined();
    expect(nextPromotion(rule, [...there, waiting(7), running, running])).toBe(4);
    expect(nextPromotion(rule, [...there, waiting(0), running, running])).toBe(6);
    expect(nextPromotion(rule, there)).toBeUndefined();
  });

  test("lets the furthest one go on first, of whatever bracket and round it is", () => {
    const rule = pausing("hyperband", 9);
    const first = Array.from({ length: 9 }, (_, number) => waiting(number));
    const second = Array.from({ length: 5 }, (_, number) => waiting(number, 1));
    expect(nextPromotion(pausing("hyperband", 14), [...first, ...second])).toBe(9);
    expect(nextPromotion(rule, first)).toBe(0);
  });

  test("waits for nobody at a rung who ended before it of his own accord", () => {
    const rule = pausing("hyperband", 9);
    const left: Trial = { ...waiting(0), state: "completed" };
    const others = [3, 4, 5, 6, 7, 8].map((value) => waiting(value));
    expect(nextPromotion(rule, [left, waiting(1, 1), waiting(2, 1), ...others])).toBe(1);
  });

  /** All trials report at once what `valueAt` says of their number; the same ends the same. */
  function play(rule: Pausing, valueAt: (number: number) => number, fails: readonly number[] = []) {
    const { rungs, total } = rule;
    const trials: Trial[] = [];
    const reached = (number: number) => trials[number]?.reports?.at(-1)?.step ?? 0;
    const run = (number: number, trial: Trial) => {
      trials[number] = trial;
      const from = rungs.filter((step) => step > reached(number));
      for (const step of from) {
        trials[number] = reportsAt(trials[number] ?? trial, step, valueAt(number));
        const { rung, pause } = standingOf(rule, number, trials);
        trials[number] = { ...(trials[number] ?? trial), rung, state: pause === undefined ? "running" : "paused" };
        if (pause !== undefined) return;
      }
      trials[number] = { ...(trials[number] ?? trial), state: fails.includes(number) ? "failed" : "completed" };
    };
    for (;;) {
      const next = nextPromotion(rule, trials);
      const trial = next === undefined ? undefined : trials[next];
      if (next !== undefined && trial !== undefined)
        run(next, { ...trial, state: "running", rung: (trial.rung ?? 0) + 1 });
      else if (trials.length === total)
        return rungs.map((step) => trials.filter((_, number) => reached(number) >= step).length);
      else if (fails.includes(trials.length)) trials.push({ params: {}, state: "failed" });
      else run(trials.length, { params: {}, state: "running" });
    }
  }

  test("trains as many at each rung as its brackets say", () => {
    const rule = pausing("hyperband", 17);
    // 9, 3 and 1; 5 and 1 from the second rung on, 3 at the last: all trials reach the first rung's step.
    expect(play(rule, (number) => (number * 7) % 17)).toEqual([17, 11, 5]);
    const round = pausing("hyperband", 143, { min: 1, max: 81, factor: 3 });
    expect(play(round, (number) => (number * 31) % 143).slice(-1)).toEqual([1 + 1 + 1 + 2 + 5]);
  });

  test("comes to its end whatever fails, and where the last bracket is cut short", () => {
    const rule = pausing("hyperband", 17);
    expect(play(rule, (number) => number, [0, 3, 8, 9, 16])).toEqual([12, 9, 4]);
    expect(play(rule, () => Number.NaN)).toEqual([17, 8, 3]);
    expect(
      play(
        rule,
        () => 1,
        Array.from({ length: 17 }, (_, number) => number),
      ),
    ).toEqual([0, 0, 0]);
    expect(play(pausing("hyperband", 2), (number) => number)).toEqual([2, 1, 1]);
    expect(play(pausing("asha-promotion", 9), (number) => (number * 4) % 9)[2]).toBeGreaterThanOrEqual(1);
  });
});
