import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { createCore } from "../../am/core/core.ts";
import { statusOf } from "../../am/core/status/status.ts";
import { JobEnd } from "../../am/job-end.ts";
import { endedBecause } from "../../src/job/outcome.ts";
import type { JobOutcome } from "../../src/job/status.ts";
import type { Log } from "../../src/log.ts";
import { aJobSpec, aRole } from "../support/job-spec.ts";
import { silentLog } from "../support/silent-log.ts";

const ended = endedBecause("succeeded", { code: "tasks-ended", succeeded: 1, tasks: 1, onlyTracked: false });
const outcome: JobOutcome = { ...ended, endedAtMs: 5 };
const core = createCore(aJobSpec({ roles: [aRole("worker", 1)] }), {
  applicationId: "application_1_0001",
  attempt: 1,
  amHost: "node-1",
  amContainerId: "",
  startedAtMs: 0,
  nodeHeartbeatMs: 1_000,
});
const never = new Promise<void>(() => {});

/** `hangs`, `fails`: the steps that do. */
function endOf({ local = false, hangs = "", fails = "" } = {}) {
  const steps: string[] = [];
  const warnings: string[] = [];
  const step = (name: string): Promise<void> => {
    steps.push(name);
    if (hangs === name) return never;
    return fails === name ? Promise.reject(new Error("no NameNode answers")) : Promise.resolve();
  };
  const log: Log = { ...silentLog, warn: (_event, message) => void warnings.push(message) };
  const end = new JobEnd({
    log,
    local,
    status: () => statusOf(core, 5),
    closeHistory: () => step("history"),
    storeTrials: () => step("trials"),
    endFeeds: () => step("feeds"),
    lastNotices: (limitMs) => step(`notices for ${limitMs} ms`),
    removeCheckpoints: () => step("checkpoints"),
    removeUnfinishedUploads: () => step("uploads"),
    sessions: { endAll: (reason) => void step(`sessions: ${reason}`) },
    tails: { endAll: () => step("logs"), abort: () => void step("late readers") },
    journals: [{ settled: () => step("journal") }],
    staging: { keepResult: ({ applicationId }) => step(`result of ${applicationId}`), remove: () => step("staging") },
    scheduler: { close: () => step("scheduler") },
    endpoint: { close: (limitMs) => step(`server within ${limitMs} ms`) },
  });
  return { end, steps, warnings };
}

/** Whether it is done by then. */
async function isDoneWithin(ms: number, work: Promise<void>): Promise<boolean> {
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  await jest.advanceTimersByTimeAsync(ms);
  if (isDone) await done;
  return isDone;
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("sessions end and readers get the last of the logs before the ResourceManager is told, and the outcome is known from then on", async () => {
  const { end, steps } = endOf();
  expect([end.hasBegun, end.outcome]).toEqual([false, undefined]);
  await end.begin(outcome);
  expect([end.hasBegun, end.outcome]).toEqual([true, outcome]);
  expect(steps).toEqual([
    "sessions: the job has ended",
    "history",
    "trials",
    "feeds",
    "notices for 9500 ms",
    "logs",
    "late readers",
  ]);
});

test.each([
  { hangs: "history", limitMs: 5_000, told: "closing the history: it took longer than 5 s" },
  { hangs: "trials", limitMs: 5_000, told: "storing the trials: it took longer than 5 s" },
  { hangs: "feeds", limitMs: 10_000, told: "ending the feeds: it took longer than 10 s" },
  { hangs: "notices for 9500 ms", limitMs: 10_000, told: "telling other systems of the end: it took longer than 10 s" },
  { hangs: "checkpoints", limitMs: 10_000, told: "removing checkpoints: it took longer than 10 s" },
  { hangs: "uploads", limitMs: 5_000, told: "removing unfinished uploads: it took longer than 5 s" },
  { hangs: "staging", limitMs: 10_000, told: "removing the staging folder: it took longer than 10 s" },
  {
    hangs: "result of application_1_0001",
    local: true,
    limitMs: 10_000,
    told: "writing status.json: it took longer than 10 s",
  },
])(
  "without an answer to $hangs the ResourceManager is told at once, and this process goes on after $limitMs ms",
  async (given) => {
    const { limitMs, told, ...rest } = given;
    const { end, steps, warnings } = endOf(rest);
    expect(await isDoneWithin(0, end.begin(outcome))).toBe(true);
    const completed = end.complete(true);
    expect(await isDoneWithin(limitMs - 100, completed)).toBe(false);
    expect(await isDoneWithin(100, completed)).toBe(true);
    expect(warnings).toEqual([`Failed: ${told}`]);
    expect(steps.slice(-2)).toEqual(["scheduler", "server within 1000 ms"]);
  },
);

test("a reader that does not read on is broken off after five seconds", async () => {
  const { end, steps } = endOf({ hangs: "logs" });
  const begun = end.begin(outcome);
  expect(await isDoneWithin(4_900, begun)).toBe(false);
  expect(await isDoneWithin(100, begun)).toBe(true);
  expect(steps).toContain("late readers");
});

test("on a cluster the staging folder goes last of all files, when the journal writes no more there", async () => {
  const { end, steps } = endOf();
  await end.complete(true);
  expect(steps).toEqual(["checkpoints", "uploads", "journal", "staging", "scheduler", "server within 1000 ms"]);
});

test("what the next attempt needs stays", async () => {
  const { end, steps } = endOf();
  await end.complete(false);
  expect(steps).toEqual(["scheduler", "server within 1000 ms"]);
  expect(end.hasBegun).toBe(true);
});

test("with the local scheduler the result is kept in the folder", async () => {
  const { end, steps } = endOf({ local: true });
  await end.complete(true);
  expect(steps).toEqual([
    "checkpoints",
    "uploads",
    "result of application_1_0001",
    "scheduler",
    "server within 1000 ms",
  ]);
});

test("a step that fails is told, and the next one follows; a scheduler that does not close is not waited for", async () => {
  const { end, steps, warnings } = endOf({ fails: "staging", hangs: "scheduler" });
  expect(await isDoneWithin(1_000, end.complete(true))).toBe(true);
  expect(warnings).toEqual(["Failed: removing the staging folder: no NameNode answers"]);
  expect(steps.at(-1)).toBe("server within 1000 ms");
});
