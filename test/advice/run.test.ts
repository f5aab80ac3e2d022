import { describe, expect, test } from "@jest/globals";
import { areFirm, endOf, type Run, ranMs, tellingRuns } from "../../src/advice/run.ts";
import type { JobOutcome, TaskStatus } from "../../src/job/status.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";

const minute = 60_000;
/** A run of an hour whose tasks began and ended at these times; without an end they ran until the job's. */
function aRun(
  times: readonly (readonly [startedAtMs?: number, endedAtMs?: number])[],
  result?: JobOutcome["result"],
): Run {
  const tasks = times.map(([startedAtMs, endedAtMs], index): TaskStatus => {
    const began = startedAtMs === undefined ? {} : { startedAtMs };
    const ended = endedAtMs === undefined ? {} : { endedAtMs };
    return { task: `worker:${index}`, state: "running", restarts: 0, ...began, ...ended };
  });
  const outcome = { ...allSucceeded, result: result ?? "succeeded", endedAtMs: 60 * minute };
  const status = aJobStatus({ nowMs: 90 * minute, tasks, ...(result && { outcome }) });
  return { status, submittedAtMs: 0 };
}

describe("a run of a job", () => {
  test("ends with its outcome, or goes on until now", () => {
    expect([aRun([], "failed"), aRun([])].map(endOf)).toEqual([60 * minute, 90 * minute]);
  });

  test("took as long as the program of a role that ran longest, of those that have ended and those that ran until its end", () => {
    expect(ranMs(aRun([[5 * minute, 8 * minute], [minute, 3 * minute], []], "succeeded"), "worker")).toBe(3 * minute);
    expect(ranMs(aRun([[5 * minute, 8 * minute], [50 * minute]], "succeeded"), "worker")).toBe(10 * minute);
    expect(ranMs(aRun([[50 * minute]]), "worker")).toBe(40 * minute);
    expect(ranMs(aRun([[0, 5 * minute]], "succeeded"), "work")).toBe(0);
  });

  test("tells what the next one needs from a minute on where it succeeded, and from ten where it did not", () => {
    const tells = (ms: number, result?: JobOutcome["result"]) =>
      tellingRuns([aRun([[0, ms]], result)], "worker").length === 1;
    expect([tells(minute - 1, "succeeded"), tells(minute, "succeeded")]).toEqual([false, true]);
    for (const result of ["failed", "killed", undefined] as const)
      expect([tells(10 * minute - 1, result), tells(10 * minute, result)]).toEqual([false, true]);
  });

  test("is enough to ask for a little less where it took ten minutes, or together with two others", () => {
    const firm = (...ms: readonly number[]) =>
      areFirm(
        ms.map((one) => aRun([[0, one]], "succeeded")),
        "worker",
      );
    expect([firm(10 * minute - 1), firm(10 * minute)]).toEqual([false, true]);
    expect([firm(minute, 9 * minute - 1), firm(minute, 9 * minute)]).toEqual([false, true]);
    expect([firm(minute, minute), firm(minute, minute, minute)]).toEqual([false, true]);
  });
});
