import { expect, test } from "@jest/globals";
import { isUnfinished, keyOf, sumOf, tallyOf } from "../../portal/tally.ts";
import type { JobRow } from "../../src/page/portal-answers.ts";

const row: JobRow = {
  applicationId: "application_1_0001",
  name: "bert",
  user: "ada",
  queue: "ml",
  state: "failed",
  startedAtMs: 1_000,
  endedAtMs: 4_000,
  tasks: 1,
  writtenBy: "tony-ts",
  usage: { memoryMiBSeconds: 10, vcoreSeconds: 2, gpuSeconds: 3, cost: { amount: 1.5, currency: "EUR" } },
};
const { endedAtMs: _ended, ...unended } = row;

test("a job comes to what it used, and to no time where it has no end", () => {
  const used = { jobs: 1, ms: 3_000, memoryMiBSeconds: 10, vcoreSeconds: 2, gpuSeconds: 3, cost: 1.5, currency: "EUR" };
  expect(tallyOf(row)).toEqual({ user: "ada", queue: "ml", state: "failed", ...used });
  expect(tallyOf(unended)).toMatchObject({ ms: 0 });
  const free = tallyOf({ ...row, usage: { memoryMiBSeconds: 1, vcoreSeconds: 1 } });
  expect(free).toMatchObject({ gpuSeconds: 0, currency: "" });
  expect(free).not.toHaveProperty("cost");
});

test("a job has no end while it waits or runs", () => {
  const states = ["waiting", "running", "succeeded", "failed", "killed", "unknown"] as const;
  expect(states.filter(isUnfinished)).toEqual(["waiting", "running"]);
});

test("jobs are added up in each of their quantities", () => {
  expect(sumOf(tallyOf(row), tallyOf(row))).toEqual({
    ...tallyOf(row),
    ...{ jobs: 2, ms: 6_000, memoryMiBSeconds: 20, vcoreSeconds: 4, gpuSeconds: 6, cost: 3 },
  });
});

test.each([
  ["user", { user: "bob" }],
  ["queue", { queue: "prod" }],
  ["viewers", { viewers: "bob" }],
  ["end", { state: "killed" }],
  ["currency", { usage: { ...row.usage, cost: { amount: 1.5, currency: "USD" } } }],
  ["prices", { usage: { memoryMiBSeconds: 10, vcoreSeconds: 2 } }],
] as const)("jobs are not added up with those of another %s", (_, change) => {
  const keys = [row, { ...row, applicationId: "application_1_0002" }, { ...row, ...change }].map((one) =>
    keyOf(tallyOf(one)),
  );
  expect(new Set(keys).size).toBe(2);
});
