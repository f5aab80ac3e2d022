import { describe, expect, test } from "@jest/globals";
import { notRun, searchRun } from "../../../src/job/build/search-run.ts";
import { clusterOfTrial, inTrial, leadOfTrial } from "../../../src/job/search/trial-tasks.ts";
import type { Search } from "../../../src/job/search/trials.ts";
import { countTasks } from "../../../src/job/spec.ts";
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
});

describe("the job of a search whose trials have several tasks", () => {
  const several = { "tony.worker.instances": "2", "tony.ps.instances": "1", "tony.ps.command": "ps" };

  test("keeps its roles, which each trial has, and starts a trial that fails again as one", () => {
    const run = searchRun(specOf({ ...several, "tony.worker.retry-count": "2" }), { ...search, retries: 1 });
    expect(run).toMatchObject({
      ...{ distributedMode: "gang", trials: 30, search: { maxTrials: 30 } },
      failure: { onWorkerFailure: "fail", budgets: { program: 1 } },
      roles: [
        { name: "worker", instances: 2, chief: "first", restartPolicy: "gang" },
        { name: "ps", instances: 1, restartPolicy: "gang" },
      ],
    });
    expect(run.roles[0]).not.toHaveProperty("retryCount");
    expect(parseJobSpec(JSON.stringify(run))).toEqual(run);
  });

  test("is run but for what a trial cannot be", () => {
    const why = (settings: Readonly<Record<string, string>>, change: Partial<Search> = {}) =>
      notRun(specOf({ ...several, ...settings }), { ...search, ...change });
    expect(why({})).toBeUndefined();
    expect(notRun(spec, search)).toBeUndefined();
    expect(why({ "tony.application.distributed-mode": "fcfs" })).toMatch(
      /start all their tasks together: tony\.application\.distributed-mode \(job\.xml:\d+\)$/,
    );
    const launcher = { "tony.launcher.instances": "1", "tony.application.untracked.jobtypes": "worker" };
    expect(why({ ...launcher, "tony.ps.instances": "0", "tony.application.framework": "mpi" })).toMatch(
      /mpirun: tony\.application\.framework \(job\.xml:\d+\)$/,
    );
    expect(
      why({ "tony.worker.min-instances": "1", "tony.ps.instances": "0", "tony.application.framework": "torchrun" }),
    ).toMatch(/: tony\.worker\.min-instances \(job\.xml:\d+\)$/);
    expect(why({ "tony.feed.clicks.input": "/clicks" })).toMatch(/: tony\.feed\.clicks\.input \(job\.xml:\d+\)$/);
    expect(why({ "tony.ps.restart-policy": "task" })).toMatch(/: tony\.ps\.restart-policy \(job\.xml:\d+\)$/);
    expect(why({}, { maxTrials: 4_000 })).toContain("more than 10000 tasks together");
  });

  test("has tasks by their trials: those of one behind those of the one before", () => {
    const run = searchRun(specOf(several), search);
    expect([0, 17].map((number) => leadOfTrial(run, number))).toEqual(["worker:0", "worker:34"]);
    expect(inTrial(run, { role: "worker", index: 35 })).toEqual({ number: 17, task: { role: "worker", index: 1 } });
    expect(inTrial(run, { role: "ps", index: 17 })).toEqual({ number: 17, task: { role: "ps", index: 0 } });
    expect(countTasks(run)).toBe(90);
    const address = { host: "n1", port: 7 };
    const cluster = { generation: 3, tasks: ["worker:34", "worker:35", "ps:17"].map((task) => ({ ...address, task })) };
    expect(clusterOfTrial(run, cluster)).toEqual({
      generation: 3,
      tasks: ["worker:0", "worker:1", "ps:0"].map((task) => ({ ...address, task })),
    });
    const ofOne = searchRun(spec, search);
    expect(leadOfTrial(ofOne, 17)).toBe("worker:17");
    expect(inTrial(ofOne, { role: "worker", index: 17 })).toEqual({ number: 17, task: { role: "worker", index: 17 } });
  });
});
