import { expect, test } from "@jest/globals";
import type { JobRow } from "../../portal/job-index.ts";
import { useOf } from "../../portal/use.ts";

const noonMs = Date.UTC(2026, 10, 25, 12);
const hourMs = 3_600_000;

function row(changes: Partial<JobRow>): JobRow {
  const times = { startedAtMs: noonMs, endedAtMs: noonMs + hourMs, tasks: 1, writtenBy: "tony-ts" } as const;
  const job = {
    applicationId: "application_1_0001",
    name: "bert",
    user: "ada",
    queue: "ml",
    state: "succeeded",
  } as const;
  return { ...job, ...times, memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200, ...changes };
}

test("what jobs held is told by queue and user, the greatest first", () => {
  const rows = [row({ user: "bob" }), row({}), row({ state: "failed" })];
  expect(useOf(rows).owners).toEqual([
    { queue: "ml", user: "ada", jobs: 2, gibHours: 2, coreHours: 4, wastedGibHours: 1 },
    { queue: "ml", user: "bob", jobs: 1, gibHours: 1, coreHours: 2, wastedGibHours: 0 },
  ]);
});

test("a job's use is spread over its days, and it is counted on that of its end", () => {
  const rows = [row({ endedAtMs: noonMs + 24 * hourMs }), row({ endedAtMs: noonMs, startedAtMs: noonMs })];
  expect(useOf(rows).days).toEqual([
    { day: "2026-11-25", jobs: 1, gibHours: 1.5, coreHours: 3, wastedGibHours: 0 },
    { day: "2026-11-26", jobs: 1, gibHours: 0.5, coreHours: 1, wastedGibHours: 0 },
  ]);
});

test("jobs that run, or whose end nobody knows, count for nothing yet", () => {
  const { endedAtMs: _end, ...running } = row({ state: "running" });
  expect(useOf([running])).toEqual({ owners: [], days: [] });
});

test("a clock that was set back makes no endless days", () => {
  expect(useOf([row({ startedAtMs: noonMs, endedAtMs: noonMs - hourMs })]).days).toHaveLength(1);
  expect(useOf([row({ startedAtMs: 0 })]).days).toHaveLength(366);
});
