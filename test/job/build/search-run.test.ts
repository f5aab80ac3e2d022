import { describe, expect, test } from "@jest/globals";
import { notRun, searchRun } from "../../../src/job/build/search-run.ts";
import { parseJobSpec } from "../../../src/job/stored/parse-spec.ts";
import { searchOf } from "../search/support.ts";
import { specOf } from "../support.ts";

const spec = specOf({ "tony.worker.instances": "1" });
const search = {
  ...searchOf({ lr: "float 0 1", optimizer: "choice adam sgd", momentum: "float 0 1 step 0.5 when optimizer=sgd" }),
  maxTrials: 30,
};

describe("the job of a search", () => {
  test("has a task for each trial, which start when they can; a failure ends nothing", () => {
    const run = searchRun(spec, search);
    expect(run).toMatchObject({ distributedMode: "fcfs", failure: { onWorkerFailure: "tolerate" }, search });
    expect(run.roles).toMatchObject([{ name: "worker", instances: 30, chief: "none" }]);
  });

  test("has no more than there are places, or than anybody wants", () => {
    const grid = searchOf({ units: "int 1 3", optimizer: "choice adam sgd" });
    expect(searchRun(spec, grid).roles).toMatchObject([{ instances: 6 }]);
    expect(searchRun(spec, { ...grid, maxTrials: 4 }).roles).toMatchObject([{ instances: 4 }]);
    expect(searchRun(spec, searchOf({ units: "int 1 1000000" })).roles).toMatchObject([{ instances: 10_000 }]);
  });

  test("reaches the ApplicationMaster as it is", () => {
    const run = searchRun(spec, {
      ...search,
      points: [{ lr: 0.5, optimizer: "adam" }],
      budget: { min: 1, max: 9, factor: 3 },
      outputDir: "hdfs:///r",
      before: [{ params: { lr: 1 }, state: "completed", value: "Infinity", reports: [[1, 2]] }],
    });
    expect(parseJobSpec(JSON.stringify(run))).toEqual(run);
    const broken = { ...run, search: { ...search, space: [{ name: "a", domain: { kind: "choice", choices: [] } }] } };
    expect(() => parseJobSpec(broken)).toThrow("search.space[0].domain.choices must not be empty");
  });

  test("has no restarts but those of each trial", () => {
    const retried = specOf({
      "tony.worker.instances": "1",
      "tony.am.retry-count": "3",
      "tony.worker.retry-count": "2",
    });
    const { failure, roles } = searchRun(retried, search);
    expect(failure.budgets).toMatchObject({ program: 0, infrastructure: retried.failure.budgets.infrastructure });
    expect(roles[0]).not.toHaveProperty("retryCount");
  });

  test("is run where each trial is one task", () => {
    expect(notRun(spec)).toBeUndefined();
    expect(notRun(specOf({}))).toContain("trials of one task only");
    expect(notRun(specOf({ "tony.worker.instances": "1", "tony.ps.instances": "1" }))).toContain("one role");
  });
});
