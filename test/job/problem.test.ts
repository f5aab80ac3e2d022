import { describe, expect, test } from "@jest/globals";
import {
  formatProblem,
  hasErrors,
  inFileOrder,
  invalidJob,
  keyProblem,
  type Problem,
  refusedJob,
} from "../../src/job/problem.ts";

const error: Problem = { severity: "error", message: "no such key", key: "tony.x", at: "job.xml:3" };
const warning: Problem = { severity: "warning", message: "has no effect" };

describe("a problem with a job", () => {
  test("is told with its place, and as a warning where it is one", () => {
    expect(formatProblem(error)).toBe("job.xml:3: no such key");
    expect(formatProblem(warning)).toBe("warning: has no effect");
    expect(formatProblem({ ...warning, at: "-conf" })).toBe("-conf: warning: has no effect");
  });

  test("of a key has the place where the job sets that", () => {
    const job = { sources: { "tony.x": "job.xml:3" } };
    expect(keyProblem("error", job, "tony.x", "no such key")).toEqual(error);
    expect(keyProblem("warning", job, "tony.y", "odd")).toEqual({ severity: "warning", message: "odd", key: "tony.y" });
  });

  test.each([
    [[], false],
    [[warning], false],
    [[warning, error], true],
  ])("is an error or none: %j", (problems, are) => {
    expect(hasErrors(problems)).toBe(are);
  });

  test("that makes a job invalid is the user's mistake; what the cluster refuses is the cluster's", () => {
    const problems = [warning, error, { ...error, at: "job.xml:5" }];
    const message = "job.xml:3: no such key\njob.xml:5: no such key";
    expect(invalidJob(problems)).toMatchObject({ code: "JOB_INVALID", exitCode: 2, message });
    expect(refusedJob(problems)).toMatchObject({ code: "CLUSTER_REFUSES", exitCode: 3, message });
  });

  test("is told in the order of the lines, file by file as they first appear, and last what has no line", () => {
    const at = (place?: string): Problem => ({ ...warning, ...(place !== undefined && { at: place }) });
    const given = ["-conf", "b.xml:10", "a.xml:2", undefined, "b.xml:9", "a.xml:1"].map(at);
    expect(inFileOrder(given).map((one) => one.at)).toEqual([
      ...["b.xml:9", "b.xml:10", "a.xml:1", "a.xml:2"],
      ...["-conf", undefined],
    ]);
  });
});
