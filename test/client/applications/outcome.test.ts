import { describe, expect, test } from "@jest/globals";
import { exitCodeOf, outcomeOf, parseJobStatus } from "../../../client/applications/outcome.ts";
import { ExitCode } from "../../../src/errors.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";

const told = { ...allSucceeded, endedAtMs: 7 };

describe("how a job has ended", () => {
  test("is told by its ApplicationMaster, which knows why, where the ResourceManager says no other result", () => {
    expect(outcomeOf(aReport({ state: "FINISHED", finalStatus: "SUCCEEDED" }), told, 9)).toBe(told);
  });

  test("is told by the ResourceManager where that says another one", () => {
    const report = aReport({ state: "KILLED", finalStatus: "KILLED", diagnostics: "killed by bob" });
    expect(outcomeOf(report, told, 9)).toMatchObject({ result: "killed" });
    expect(outcomeOf(report, undefined, 9)).toMatchObject({ result: "killed" });
  });

  test("has the end of the ApplicationMaster itself as its cause", () => {
    const diagnostics =
      "Application application_1_0007 failed 2 times due to AM Container for appattempt_1_0007_000002 exited with  exitCode: 1\n" +
      "Diagnostics: [x]Exception from container-launch.";
    const report = aReport({ state: "FAILED", finalStatus: "FAILED", diagnostics });
    expect(outcomeOf(report, undefined, 9)).toMatchObject({
      ...{ result: "failed", endedAtMs: 9 },
      summary: "the AM's container ended, 2 times",
      cause: { class: "infrastructure", atMs: 9 },
    });
  });

  test("is a command's exit code", () => {
    const codes = (["succeeded", "failed", "killed"] as const).map((result) => exitCodeOf({ ...told, result }));
    expect(codes).toEqual([ExitCode.succeeded, ExitCode.jobFailed, ExitCode.killed]);
  });
});

test("a status that an ApplicationMaster of another version left is not understood", () => {
  const bytes = (status: object) => Buffer.from(JSON.stringify(status));
  expect(parseJobStatus(bytes(aJobStatus()))).toMatchObject({ name: "bert" });
  expect(() => parseJobStatus(bytes({ ...aJobStatus(), statusVersion: 99 }))).toThrow(
    expect.objectContaining({ code: "STATUS_UNREADABLE" }),
  );
});
