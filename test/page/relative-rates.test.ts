import { expect, test } from "@jest/globals";
import { relativeRates } from "../../src/page/relative-rates.ts";

const ratesOf = (rates: Readonly<Record<string, number>>, silent = "") => {
  const tasks = ["worker:0", "worker:1", "worker:2", "ps:0", "ps:1"].map((task) => {
    return { task, state: "running", restarts: 0, ...(task !== silent && { step: 7 }) } as const;
  });
  return Object.fromEntries(relativeRates(tasks, (task) => rates[task]));
};

test("a task goes so fast as against the median of its own role, of those that report", () => {
  expect(ratesOf({ "worker:0": 10, "worker:1": 5, "worker:2": 20, "ps:0": 2 })).toEqual({
    "worker:0": 1,
    "worker:1": 0.5,
    "worker:2": 2,
    "ps:0": 1,
  });
});

test("against those of which most stand still nothing can be said", () => {
  expect(ratesOf({ "worker:0": 0, "worker:1": 0, "worker:2": 5 })).toEqual({});
});

test("a task that has begun anew and reported no step yet has no rate, and counts for none", () => {
  expect(ratesOf({ "worker:0": 10, "worker:1": 5, "worker:2": 20 }, "worker:1")).toEqual({
    "worker:0": 0.5,
    "worker:2": 1,
  });
});
