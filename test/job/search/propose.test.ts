import { describe, expect, test } from "@jest/globals";
import { parseParameter } from "../../../src/job/search/parse-parameter.ts";
import { propose } from "../../../src/job/search/propose.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import type { Search, Trial } from "../../../src/job/search/trials.ts";
import { proposed, searchOf } from "./support.ts";

const numbersOf = (trials: readonly Parameters[], name: string) => trials.map((params) => Number(params[name]));

describe("a random search", () => {
  test("draws from the whole range of each parameter, of a logarithmic one by ratio", () => {
    const search = searchOf({
      flat: "float 0 1",
      ratio: "float 1e-4 1 log",
      count: "int 1 4",
      power: "int 1 1000 log",
    });
    const { trials } = proposed({ ...search, maxTrials: 500 });
    const share = (name: string, below: number) =>
      numbersOf(trials, name).filter((value) => value < below).length / 500;
    expect(share("flat", 0.25)).toBeCloseTo(0.25, 1);
    // From 0.5 to 1000.5, as each whole number stands for all that are nearest to it.
    expect(share("ratio", 0.01)).toBeCloseTo(0.5, 1);
    expect(share("count", 2)).toBeCloseTo(0.25, 1);
    expect(share("power", 23)).toBeCloseTo(0.5, 1);
    expect(new Set(numbersOf(trials, "count"))).toEqual(new Set([1, 2, 3, 4]));
  });

  test("takes steps as they are written", () => {
    const { trials } = proposed({ ...searchOf({ rate: "float 0 1 step 0.1" }), maxTrials: 100 });
    expect(numbersOf(trials, "rate").sort((a, b) => a - b)).toEqual([
      0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1,
    ]);
  });

  test("gives a parameter with a condition only where that holds", () => {
    const search = searchOf({ optimizer: "choice adam sgd", momentum: "float 0 1 when optimizer=sgd" });
    const { trials } = proposed({ ...search, maxTrials: 100 });
    expect(trials.every(({ optimizer, momentum }) => (optimizer === "sgd") === (momentum !== undefined))).toBe(true);
    expect(new Set(trials.map(({ optimizer }) => optimizer))).toEqual(new Set(["adam", "sgd"]));
  });

  test("proposes the same whatever became of earlier trials, and something else with another seed", () => {
    const search = searchOf({ rate: "float 0 1" });
    const [first] = proposed({ ...search, maxTrials: 1 }).trials;
    const ended = propose(search, [{ params: first ?? {}, state: "completed", value: 1 }]);
    expect(ended).toEqual(propose(search, [{ params: first ?? {}, state: "failed" }]));
    expect(proposed({ ...search, seed: 1, maxTrials: 1 }).trials).not.toEqual([first]);
  });

  test("tries nothing twice, and ends when everything was tried", () => {
    const search = searchOf({ units: "int 1 3", optimizer: "choice adam sgd" });
    const { trials, end } = proposed(search);
    expect(new Set(trials.map((params) => JSON.stringify(params))).size).toBe(6);
    expect([trials.length, end]).toEqual([6, "exhausted"]);
  });
});

describe("a grid", () => {
  const space = { optimizer: "choice adam sgd", momentum: "float 0 1 step 0.5 when optimizer=sgd" };
  const grid: Search = { ...searchOf(space), algorithm: "grid" };

  test("has every combination once, the last parameter's values next to each other", () => {
    expect(proposed(grid)).toEqual({
      trials: [
        { optimizer: "adam" },
        { optimizer: "sgd", momentum: 0 },
        { optimizer: "sgd", momentum: 0.5 },
        { optimizer: "sgd", momentum: 1 },
      ],
      end: "exhausted",
    });
  });

  test("ends with the number of trials that was asked for", () => {
    const { trials, end } = proposed({ ...grid, maxTrials: 2 });
    expect([trials.length, end]).toEqual([2, "enough"]);
  });

  test("leaves out the points that were tried first", () => {
    const point = { momentum: 0.5, optimizer: "sgd" };
    const { trials } = proposed({ ...grid, points: [point] });
    expect(trials).toEqual([
      point,
      { optimizer: "adam" },
      { optimizer: "sgd", momentum: 0 },
      { optimizer: "sgd", momentum: 1 },
    ]);
  });
});

test("a parameter of one value is that", () => {
  expect(proposed({ ...searchOf({ rate: "float 0.5 0.5" }) }).trials).toEqual([{ rate: 0.5 }]);
  expect(parseParameter("float 0.5 0.5").domain).toEqual({ kind: "float", low: 0.5, high: 0.5, log: false });
});

describe("a search by Optuna", () => {
  const search: Search = { ...searchOf({ x: "int 1 3" }), algorithm: "optuna", points: [{ x: 2 }] };
  const tried = (...values: readonly number[]) => values.map((x): Trial => ({ params: { x }, state: "running" }));

  test("begins with its points, and waits where nothing is proposed", () => {
    expect(propose(search, [])).toEqual({ params: { x: 2 } });
    expect(propose(search, tried(2))).toEqual({ none: "waits" });
  });

  test("tries what is proposed, and something else where that was tried", () => {
    expect(propose(search, tried(2), { x: 3 })).toEqual({ params: { x: 3 } });
    expect(propose(search, tried(2, 3), { x: 3 })).toEqual({ params: { x: 1 } });
    expect(propose(search, tried(2, 3, 1), { x: 3 })).toEqual({ none: "exhausted" });
  });
});
