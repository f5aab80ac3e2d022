import { describe, expect, test } from "@jest/globals";
import { outcomeOf } from "../../../client/applications/outcome.ts";
import { reportOfStatus, statusOfReport } from "../../../client/applications/report-status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";

describe("a job of which only the ResourceManager's report is known", () => {
  const startTimeMs = noonishMs;

  test("waits for its ApplicationMaster, and it is told why", () => {
    const report = aReport({ startTimeMs, currentAttemptId: "appattempt_1795305600000_0009_000002" });
    const status = statusOfReport(report, { code: "am-starting" }, noonishMs + 5_000);
    expect(status).toEqual({
      statusVersion: 1,
      applicationId: report.id,
      attempt: 2,
      name: "bert",
      queue: "ml",
      state: "starting",
      generation: 1,
      startedAtMs: noonishMs,
      nowMs: noonishMs + 5_000,
      amHost: "",
      roles: [],
      tasks: [],
      waits: [expect.objectContaining({ sinceMs: noonishMs, delays: [{ code: "am-starting" }] })],
      generations: [],
      budgets: { program: { used: 0, limit: 0 }, infrastructure: { used: 0, limit: 0 } },
      services: [],
      usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
    });
  });

  test("runs on its host with what it has used, whatever its ApplicationMaster says; why nobody says more may be unknown", () => {
    const amount = { memoryMiB: 1, vcores: 2, others: {} };
    const spent = { memorySeconds: 3, vcoreSeconds: 4, resourceSeconds: {} };
    const usage = { usedContainers: 1, used: amount, needed: amount, ...spent };
    const { currentAttemptId: _, ...first } = aReport({ state: "RUNNING", amHost: "n1", usage, queue: "ml" });
    expect(statusOfReport(first, undefined, noonishMs)).toMatchObject({
      attempt: 1,
      queue: "ml",
      state: "running",
      amHost: "n1",
      waits: [{ delays: [] }],
      usage: { memoryMiBSeconds: 3, vcoreSeconds: 4 },
    });
  });

  test.each([
    ["FINISHED", "SUCCEEDED", "succeeded"],
    ["FINISHED", "FAILED", "failed"],
    ["KILLED", "KILLED", "killed"],
  ] as const)("that is %s and %s waits for nothing: it has %s", (state, finalStatus, result) => {
    const report = aReport({ state, finalStatus, finishTimeMs: noonishMs + 1_000, diagnostics: "so it ended" });
    const status = statusOfReport(report, { code: "am-starting" }, noonishMs + 5_000);
    expect(status).toMatchObject({ state: result, waits: [] });
    expect(status.outcome).toMatchObject({ result, summary: "so it ended", endedAtMs: noonishMs + 1_000 });
    const timeless = statusOfReport({ ...report, finishTimeMs: 0 }, undefined, noonishMs + 5_000);
    expect(timeless.outcome).toMatchObject({ endedAtMs: noonishMs + 5_000 });
  });
});

describe("an application that the ResourceManager has forgotten", () => {
  test.each(["succeeded", "failed", "killed"] as const)("has the end of its job's last status: %s", (result) => {
    const outcome = { ...allSucceeded, result, endedAtMs: noonishMs + 70_000 };
    const report = reportOfStatus(aJobStatus({ state: result, outcome }), "alice");
    expect(outcomeOf(report, outcome, 0)).toBe(outcome);
    expect(report).toMatchObject({
      id: "application_1795305600000_0009",
      user: "alice",
      name: "bert",
      queue: "ml",
      type: "TONY",
      diagnostics: allSucceeded.summary,
      startTimeMs: noonishMs,
      launchTimeMs: noonishMs,
      finishTimeMs: noonishMs + 70_000,
      progress: 1,
    });
  });

  test("has failed where its ApplicationMaster left no outcome", () => {
    const report = reportOfStatus(aJobStatus(), "alice");
    expect(outcomeOf(report, undefined, 0).result).toBe("failed");
    expect(report).toMatchObject({ state: "FAILED", diagnostics: "", finishTimeMs: noonishMs + 60_000 });
  });
});
