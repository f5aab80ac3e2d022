import { describe, expect, test } from "@jest/globals";
import { outcomeOf } from "../../../client/applications/outcome.ts";
import { reportOfStatus } from "../../../client/applications/report-status.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";

describe("an application that the ResourceManager has forgotten", () => {
  test.each(["succeeded", "failed", "killed"] as const)("has the end of its job's last status: %s", (result) => {
    const outcome = { ...allSucceeded, result, endedAtMs: noonishMs + 70_000 };
    const report = reportOfStatus(aJobStatus({ state: result, outcome }), "alice");
    expect(outcomeOf(report, outcome, 0)).toBe(outcome);
    expect(report).toMatchObject({ user: "alice", finishTimeMs: noonishMs + 70_000 });
  });

  test("has failed where its ApplicationMaster left no outcome", () => {
    const report = reportOfStatus(aJobStatus(), "alice");
    expect(outcomeOf(report, undefined, 0).result).toBe("failed");
    expect(report.finishTimeMs).toBe(noonishMs + 60_000);
  });
});
