import { describe, expect, test } from "@jest/globals";
import { endedBecause, failedBy, hasEnded, yarnOutcome } from "../../src/job/outcome.ts";
import { aReport } from "../client/application-report.ts";
import { outOfMemory } from "../client/job-status.ts";

test("a job ends in the words of its reason", () => {
  const reason = { code: "stop-requested", words: "killed by alice" } as const;
  expect(endedBecause("killed", reason)).toEqual({ result: "killed", summary: "killed by alice", reason });
});

test("one that failed tells the failure and the rule by which it is not tried again", () => {
  const cause = outOfMemory();
  const reason = { code: "never-restarted", role: "worker", setting: { key: "tony.x", at: "job.xml:7" } } as const;
  const failed = failedBy(cause, reason);
  expect(failed).toEqual({
    result: "failed",
    summary: "worker:1 ran out of memory on 127.0.0.12; worker is not restarted: tony.x (job.xml:7)",
    cause,
    rule: "worker is not restarted: tony.x (job.xml:7)",
    reason,
  });
});

describe("an application, as the ResourceManager knows it,", () => {
  test.each(["FINISHED", "FAILED", "KILLED"] as const)("has ended when it is %s", (state) => {
    expect(hasEnded(aReport({ state }))).toBe(true);
  });

  test.each(["NEW", "SUBMITTED", "ACCEPTED", "RUNNING"] as const)("has not ended while it is %s", (state) => {
    expect(hasEnded(aReport({ state }))).toBe(false);
  });

  test.each([
    ["FINISHED", "SUCCEEDED", "succeeded"],
    ["FINISHED", "FAILED", "failed"],
    ["FINISHED", "KILLED", "killed"],
    ["FINISHED", "UNDEFINED", "failed"],
    ["FAILED", "FAILED", "failed"],
    ["FAILED", "SUCCEEDED", "failed"],
    ["KILLED", "KILLED", "killed"],
    ["KILLED", "UNDEFINED", "killed"],
  ] as const)("that is %s and %s has %s", (state, finalStatus, result) => {
    expect(yarnOutcome(aReport({ state, finalStatus }), 7)).toMatchObject({ result });
  });

  test("ended when it says so, or else now, and why it says itself", () => {
    const report = aReport({ state: "FAILED", diagnostics: " no room\n", finishTimeMs: 5 });
    expect(yarnOutcome(report, 7)).toMatchObject({
      endedAtMs: 5,
      reason: { code: "application-ended", state: "FAILED", words: "no room" },
    });
    expect(yarnOutcome({ ...report, finishTimeMs: 0, diagnostics: "" }, 7)).toMatchObject({
      endedAtMs: 7,
      reason: { code: "application-ended", state: "FAILED" },
    });
    expect(yarnOutcome({ ...report, diagnostics: "" }, 7).reason).not.toHaveProperty("words");
    expect(yarnOutcome(report, 7, "it is so").reason).toMatchObject({ words: "it is so" });
  });

  test("that was killed is told in our client's words, not in YARN's before them", () => {
    const ours = "killed by alice from n1: enough";
    const before = "Application application_1_0001 was killed by user alice at 10.0.0.1 with diagnostic message: ";
    const words = (diagnostics: string) => yarnOutcome(aReport({ state: "KILLED", diagnostics }), 7).reason;
    expect(words(before + ours)).toMatchObject({ words: ours });
    expect(words(`${before}maintenance`)).toMatchObject({ words: `${before}maintenance` });
  });
});
