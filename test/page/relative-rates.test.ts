import { expect, test } from "@jest/globals";
import { relativeRates, withRates } from "../../src/page/relative-rates.ts";
import { aJobStatus } from "../client/job-status.ts";

const ratesOf = (rates: Readonly<Record<string, number>>, silent = "") => {
  const tasks = ["worker:0", "worker:1", "worker:2", "ps:0", "ps:1"].map((task) => {
    return { task, state: "running", restarts: 0, ...(task !== silent && { step: 7 }) } as const;
  });
  return Object.fromEntries(relativeRates({ tasks }, (task) => rates[task]));
};

test("a task goes so fast as against the median of its own role, of those that report", () => {
  expect(ratesOf({ "worker:0": 10, "worker:1": 5, "worker:2": 20, "ps:0": 2 })).toEqual({
    "worker:0": 1,
    "worker:1": 0.5,
    "worker:2": 2,
    "ps:0": 1,
  });
});

test("trials of a search are quick or slow by their parameters: none is compared", () => {
  const search = { metric: "loss", direction: "minimize", parameters: ["lr"], command: "" } as const;
  const tasks = [0, 1].map((n) => ({ task: `worker:${n}`, state: "running", restarts: 0, step: n + 1 }) as const);
  expect(relativeRates({ tasks, search }, (task) => (task === "worker:0" ? 10 : 1)).size).toBe(0);
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

test("a status has the rates of tasks whose programs run, in two digits; those that have ended do not go, and slow nobody down", () => {
  const of = (task: string, state: "running" | "succeeded") => ({ task, state, restarts: 0, step: 7 }) as const;
  const tasks = [
    of("worker:0", "running"),
    of("worker:1", "running"),
    of("worker:2", "succeeded"),
    of("ps:0", "running"),
  ];
  const rates: Readonly<Record<string, number>> = { "worker:0": 10, "worker:1": 3.3333, "worker:2": 1 };
  const told = withRates(aJobStatus({ tasks }), (task) => rates[task]);
  expect(told.tasks.map(({ rate }) => rate)).toEqual([1, 0.33, undefined, undefined]);
  const nothing = aJobStatus({ tasks });
  expect(withRates(nothing, () => undefined)).toBe(nothing);
});
