import { expect, test } from "@jest/globals";
import { useOf } from "../../portal/use.ts";
import type { JobRow } from "../../src/page/portal-answers.ts";

const noonMs = Date.UTC(2026, 10, 25, 12);
const hourMs = 3_600_000;
const nowMs = noonMs + 48 * hourMs;

function row(changes: Partial<JobRow>): JobRow {
  const times = { startedAtMs: noonMs, endedAtMs: noonMs + hourMs, tasks: 1, writtenBy: "tony-ts" } as const;
  const job = {
    applicationId: "application_1_0001",
    name: "bert",
    user: "ada",
    queue: "ml",
    state: "succeeded",
  } as const;
  return { ...job, ...times, usage: { memoryMiBSeconds: 1024 * 3600, vcoreSeconds: 7200 }, ...changes };
}

const none = { gibHours: 0, coreHours: 0, gpuHours: 0, wastedGibHours: 0, wastedGpuHours: 0, costs: [] };

test("what jobs held is told by queue and user, the greatest first", () => {
  const rows = [row({ user: "bob" }), row({}), row({ state: "failed" })];
  expect(useOf(rows, nowMs).owners).toEqual([
    { queue: "ml", user: "ada", jobs: 2, ...none, gibHours: 2, coreHours: 4, wastedGibHours: 1 },
    { queue: "ml", user: "bob", jobs: 1, ...none, gibHours: 1, coreHours: 2 },
  ]);
});

test("a job's use is spread over its days, and it is counted on that of its end", () => {
  const rows = [row({ endedAtMs: noonMs + 24 * hourMs }), row({ endedAtMs: noonMs, startedAtMs: noonMs })];
  expect(useOf(rows, nowMs).days).toEqual([
    { day: "2026-11-25", jobs: 1, ...none, gibHours: 1.5, coreHours: 3 },
    { day: "2026-11-26", jobs: 1, ...none, gibHours: 0.5, coreHours: 1 },
  ]);
});

test("GPUs are counted, and what jobs cost is added up by currency, over days too", () => {
  const held = { memoryMiBSeconds: 0, vcoreSeconds: 0 };
  const euros = { ...held, gpuSeconds: 3600, cost: { amount: 3, currency: "EUR" } };
  const dollars = { ...held, cost: { amount: 1, currency: "USD" } };
  const lastsADay = { endedAtMs: noonMs + 24 * hourMs };
  const rows = [row({ usage: euros }), row({ usage: euros, state: "killed", ...lastsADay }), row({ usage: dollars })];
  const { owners, days } = useOf(rows, nowMs);
  const costs = [
    { amount: 6, currency: "EUR" },
    { amount: 1, currency: "USD" },
  ];
  expect(owners).toEqual([{ queue: "ml", user: "ada", jobs: 3, ...none, gpuHours: 2, wastedGpuHours: 1, costs }]);
  expect(days).toMatchObject([
    { gpuHours: 1.5, costs: [{ amount: 4.5, currency: "EUR" }, costs[1]] },
    { gpuHours: 0.5, costs: [{ amount: 1.5, currency: "EUR" }] },
  ]);
});

test("what jobs cost is added up without a currency where the site names none, apart from what has one", () => {
  const held = { memoryMiBSeconds: 0, vcoreSeconds: 0 };
  const costs = [{ amount: 2 }, { amount: 1, currency: "EUR" }, { amount: 3 }];
  const rows = costs.map((cost) => row({ usage: { ...held, cost } }));
  expect(useOf(rows, nowMs).owners).toMatchObject([{ costs: [{ amount: 5 }, { amount: 1, currency: "EUR" }] }]);
});

test("days come in their order, whatever the order of jobs is", () => {
  const later = row({ startedAtMs: noonMs + 24 * hourMs, endedAtMs: noonMs + 25 * hourMs });
  expect(useOf([later, row({})], nowMs).days.map(({ day }) => day)).toEqual(["2026-11-25", "2026-11-26"]);
});

test("jobs that run, or whose end nobody knows, count for nothing yet", () => {
  const { endedAtMs: _end, ...running } = row({ state: "running" });
  expect(useOf([running], nowMs)).toEqual({ owners: [], days: [] });
});

test("a clock that was set back makes no endless days", () => {
  expect(useOf([row({ startedAtMs: noonMs, endedAtMs: noonMs - hourMs })], nowMs).days).toHaveLength(1);
  const { days } = useOf([row({ startedAtMs: 0 })], nowMs);
  expect([days.length, days.reduce((sum, { gibHours }) => sum + gibHours, 0)]).toEqual([366, expect.closeTo(1)]);
});

test("of many days the latest are told", () => {
  const old = noonMs - 400 * 24 * hourMs;
  const { days } = useOf([row({ startedAtMs: old, endedAtMs: old + hourMs }), row({ startedAtMs: 0 })], nowMs);
  expect([days.length, days[0]?.day, days.at(-1)?.day]).toEqual([366, "2025-11-25", "2026-11-25"]);
});

test("a job that says that it ended later than now did so now: it neither hides the use of others, nor keeps anybody waiting", () => {
  for (const endedAtMs of [9e15, 1e25, 1e300]) {
    const days = useOf([row({}), row({ endedAtMs, startedAtMs: nowMs - 1 })], nowMs).days;
    expect(days.map(({ day, jobs }) => [day, jobs])).toEqual([
      ["2026-11-25", 1],
      ["2026-11-27", 1],
    ]);
  }
});
