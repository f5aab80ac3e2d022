import { describe, expect, test } from "@jest/globals";
import { propose } from "../../../src/job/search/propose.ts";
import type { Search, Trial } from "../../../src/job/search/trials.ts";
import { branin, searchOf } from "./support.ts";

const search: Search = { ...searchOf({ x: "float -5 10", y: "float 0 15" }), algorithm: "evolution" };

function next(given: Search, trials: readonly Trial[]) {
  const proposal = propose(given, trials);
  return "params" in proposal ? proposal.params : proposal.none;
}

/** Trials that end with their value at once. */
function run(given: Search, count: number, objective: (trial: Trial["params"]) => number): Trial[] {
  const trials: Trial[] = [];
  while (trials.length < count) {
    const params = next(given, trials);
    if (typeof params === "string") break;
    trials.push({ params, state: "completed", value: objective(params) });
  }
  return trials;
}

describe("differential evolution", () => {
  test("waits for a whole generation before it makes the next", () => {
    const trials = run(search, 6, branin);
    const unfinished = trials.map(
      (trial, index): Trial => (index === 2 ? { params: trial.params, state: "running" } : trial),
    );
    expect(next(search, unfinished)).toBe("waits");
    expect(next(search, unfinished.slice(0, 5))).not.toBe("waits");
    const failed = trials.map(
      (trial, index): Trial => (index === 2 ? { params: trial.params, state: "failed" } : trial),
    );
    expect(next(search, failed)).toHaveProperty("x");
  });

  test("goes on from nothing that failed, whatever it had reported", () => {
    const trials = run(search, 12, branin);
    const failedWith = (value: number) =>
      trials.map((trial, index): Trial => (index === 8 ? { ...trial, state: "failed", value } : trial));
    expect(next(search, failedWith(-1e9))).toEqual(next(search, failedWith(1e9)));
  });

  test("comes nearer to the minimum than chance does", () => {
    const bestOf = (algorithm: Search["algorithm"]) => {
      const seeds = Array.from({ length: 15 }, (_, seed) => {
        const trials = run({ ...search, algorithm, seed }, 96, branin);
        return Math.min(...trials.map(({ value = Number.NaN }) => value));
      });
      return seeds.sort((a, b) => a - b)[7] ?? Number.NaN;
    };
    expect(bestOf("evolution")).toBeLessThan(bestOf("random"));
  });

  test("stays within its space: bounds, steps, choices and conditions", () => {
    const mixed: Search = {
      ...searchOf({
        optimizer: "choice adam sgd rmsprop",
        momentum: "float 0 0.9 step 0.1 when optimizer=sgd",
        lr: "float 1e-4 1 log",
        units: "int 8 64 log",
      }),
      algorithm: "evolution",
    };
    const trials = run(mixed, 120, ({ lr }) => -Number(lr));
    for (const { params } of trials) {
      const { optimizer, momentum, lr, units } = params;
      expect(["adam", "sgd", "rmsprop"]).toContain(optimizer);
      expect(momentum !== undefined).toBe(optimizer === "sgd");
      expect(Number(lr)).toBeGreaterThanOrEqual(1e-4);
      expect(Number(lr)).toBeLessThanOrEqual(1);
      expect([Number.isInteger(units), Number(units) >= 8, Number(units) <= 64]).toEqual([true, true, true]);
      expect(Number(momentum ?? 0) * 10).toBeCloseTo(Math.round(Number(momentum ?? 0) * 10), 9);
    }
    expect(Math.max(...trials.slice(90).map(({ params }) => Number(params.lr)))).toBeGreaterThan(0.9);
  });

  test("does not know its own order: the same trials lead to the same member", () => {
    const trials = run(search, 8, branin);
    expect(next(search, trials)).toEqual(next(search, structuredClone(trials)));
  });
});
