import { expect, test } from "@jest/globals";
import {
  bestTrialLines,
  bestTrialWords,
  failureLines,
  givenOf,
  notGivenLines,
  resumeLine,
  searchFolder,
  trialCounts,
  trialCsv,
  trialTable,
} from "../../../client/output/trial-table.ts";
import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import { isBetter, trialsOf } from "../../../src/job/search/trial-list.ts";
import type { SearchStatus, TaskStatus, TrialStatus } from "../../../src/job/status.ts";
import { role } from "../job-status.ts";

const space = ["float 0 1", 'choice "adam w" sgd'];
const search: SearchStatus = {
  metric: "loss",
  direction: "minimize",
  parameters: ["lr", "optimizer"],
  command: "train.py --lr {{param.lr}} --opt {{param.optimizer}}",
};

function trial(
  number: number,
  loss: number | undefined,
  params: TaskStatus["params"],
  state: TrialStatus["state"] = loss === undefined ? "failed" : "completed",
): TaskStatus {
  return {
    task: `worker:${number}`,
    state: state === "running" ? "running" : "succeeded",
    restarts: 0,
    ...(loss === undefined ? {} : { metrics: { loss } }),
    ...(params === undefined ? {} : { params, trial: { state } }),
  };
}

const tableOf = (tasks: readonly TaskStatus[], given = search, top = 10) =>
  trialTable(trialsOf({ tasks }, given), given, top);

test("the best trials come first, those without a value behind, those that failed last, and what never started is none", () => {
  const tasks = [
    trial(0, 0.5, { lr: "0.1234567", optimizer: "adam" }),
    trial(1, undefined, { lr: "0.2", optimizer: "sgd" }),
    trial(2, 0.25, { lr: "1e-7", optimizer: "sgd" }),
    trial(3, undefined, undefined),
    trial(4, 0.1, { lr: "0.3", optimizer: "sgd" }, "failed"),
    trial(5, undefined, { lr: "0.4", optimizer: "sgd" }, "running"),
  ];
  expect(tableOf(tasks)).toEqual([
    "trial   state       loss   lr        optimizer",
    "2       completed   0.25   1e-7      sgd",
    "0       completed   0.5    0.12346   adam",
    "5       running     –      0.4       sgd",
    "4       failed      0.1    0.3       sgd",
    "1       failed      –      0.2       sgd",
  ]);
  expect(trialCounts(trialsOf({ tasks }, search))).toBe("2 completed, 2 failed, 1 running");
  expect(tableOf([trial(3, undefined, undefined)])).toEqual([]);
  const many = Array.from({ length: 12 }, (_, number) => trial(number, number, { lr: "1", optimizer: "adam" }));
  expect(tableOf(many).at(-1)).toBe("and 2 more");
  expect(tableOf(many, { ...search, direction: "maximize" })[1]).toMatch(/^11 /);
});

test("the best so far is the best that has ended, with its parameters", () => {
  const params = { lr: "0.1234567", optimizer: "adam" };
  const first = trial(0, 0.5, params);
  const running = trial(1, 0.1, params, "running");
  const failed = trial(2, 0.05, params, "failed");
  expect(bestTrialWords({ tasks: [running, failed, trial(2, undefined, params)] }, search)).toBeUndefined();
  expect(bestTrialWords({ tasks: [first, running] }, search)).toBe(
    "best so far: loss 0.5 of trial 0 (lr=0.12346 optimizer=adam)",
  );
  const better = trial(3, 0.25, { lr: "1" }, "stopped");
  expect(bestTrialWords({ tasks: [first, better] }, search)).toBe("best so far: loss 0.25 of trial 1 (lr=1)");
  const interrupted = trial(4, 0.1, { lr: "1" }, "interrupted");
  expect(bestTrialWords({ tasks: [first, interrupted] }, search)).toBe(
    "best so far: loss 0.1 of trial 1 (lr=1), which was interrupted",
  );
});

test("a search that ended before it was done is told how it goes on", () => {
  const params = { lr: "1" };
  const tasks = [trial(0, 1, params), trial(1, undefined, params, "interrupted"), trial(2, undefined, undefined)];
  const lineAfter = (outcome: Undated, those = tasks) =>
    resumeLine({ ...outcome, endedAtMs: 0 }, ["job.xml"], {
      ...{ applicationId: "application_1_0001", tasks: those, search },
    });
  const goesOn = ["go on with it: tony-ts search job.xml --resume application_1_0001"];
  const over = { code: "search-time-over", limitMs: 1, completed: 1, setting: { key: "tony.search.timeout" } } as const;
  expect(lineAfter(endedBecause("succeeded", over))).toEqual(goesOn);
  expect(lineAfter(endedBecause("killed", { code: "stop-requested", words: "by its user" }))).toEqual(goesOn);
  const goal = { task: "worker:0", metric: "loss", value: "1", goal: 2, setting: { key: "tony.search.goal" } } as const;
  expect(lineAfter(endedBecause("succeeded", { code: "goal-reached", ...goal }))).toEqual([]);
  const failed = endedBecause("failed", {
    ...{ code: "trials-ended", completed: 0, stopped: 0, failed: 2, again: 0 },
  });
  const all = [trial(0, undefined, params), trial(1, undefined, params, "paused")];
  expect(lineAfter(failed, all)).toEqual([]);
  expect(lineAfter(failed, [...all, trial(2, undefined, params, "interrupted")])).toEqual(goesOn);
  const gone = endedBecause("failed", { code: "application-ended", state: "FAILED" });
  expect(lineAfter(gone)).toEqual(goesOn);
  expect(lineAfter(gone, tasks.slice(1))).toEqual([]);
  expect(lineAfter(gone, [])).toEqual([]);
  const unbegun = { applicationId: "application_1_0001", tasks: [], search: { ...search, trials: 12 } };
  expect(resumeLine({ ...failed, endedAtMs: 0 }, ["job.xml"], unbegun)).toEqual([]);
  const ofTwo = { ...unbegun, tasks: all.slice(0, 1), search: { ...search, trials: 2 } };
  expect(resumeLine({ ...failed, endedAtMs: 0 }, ["job.xml"], ofTwo)).toEqual(goesOn);
  expect(lineAfter(endedBecause("killed", { code: "stop-requested", words: "" }), tasks.slice(1))).toEqual(goesOn);
});

test("a best one that pauses counts; when it goes on, the next best one is not better than it was", () => {
  const params = { lr: "1" };
  const paused = trial(0, 0.25, params, "paused");
  const other = trial(1, 0.5, params, "stopped");
  const [best, next] = trialsOf({ tasks: [paused, other] }, search);
  expect(bestTrialWords({ tasks: [paused, other] }, search)).toBe("best so far: loss 0.25 of trial 0 (lr=1)");
  expect([best && isBetter(best, undefined, search), best && isBetter(best, next, search)]).toEqual([true, true]);
  expect([next && isBetter(next, best, search), best && isBetter(best, best, search)]).toEqual([false, false]);
});

test("the best one is run alone by a search of its own, with all digits, in the words of the first", () => {
  const params = { lr: "0.1234567", optimizer: "adam w" };
  const tasks = [{ ...trial(7, 0.5, params), trial: { state: "completed", checkpoint: "hdfs:///c/5" } as const }];
  const [best] = trialsOf({ tasks }, search);
  expect(best && bestTrialLines(best, search, ["my jobs/digits.xml", "--scheduler", "local"])).toEqual([
    `trial 0 alone: tony-ts search 'my jobs/digits.xml' --scheduler local -conf 'tony.search.points=lr=0.1234567 optimizer="adam w"' -conf tony.search.max-trials=1`,
    "its program: train.py --lr 0.1234567 --opt 'adam w'",
    "its checkpoint: hdfs:///c/5",
  ]);
  const saved = { ...best, checkpointStep: 3, step: 8 } as const;
  expect(best && bestTrialLines({ ...best, ...saved }, search, []).at(-1)).toBe(
    "its checkpoint: hdfs:///c/5 (step 3 of 8)",
  );
  expect(best && bestTrialLines(best, { ...search, space, command: "train.py" }, [])[1]).toBe(
    `its program: (export TONY_TRIAL_NUMBER=0 TONY_TRIAL_PARAMS='{"lr":0.1234567,"optimizer":"adam w"}' TONY_PARAM_LR=0.1234567 TONY_PARAM_OPTIMIZER='adam w'; train.py)`,
  );
  expect(best && bestTrialLines(best, { ...search, command: `${search.command} $TONY_TRIAL_NUMBER` }, [])[1]).toMatch(
    /^its program: \(export TONY_TRIAL_NUMBER=0 .*; train.py --lr 0.1234567 --opt 'adam w' \$TONY_TRIAL_NUMBER\)$/,
  );
  const settings = ["--conf", "tony.search.max-trials=9", "--conf", "tony.search.seed=3"];
  expect(best && bestTrialLines(best, search, ["digits.xml", ...settings])[0]).toBe(
    `trial 0 alone: tony-ts search digits.xml --conf tony.search.seed=3 -conf 'tony.search.points=lr=0.1234567 optimizer="adam w"' -conf tony.search.max-trials=1`,
  );
  expect(givenOf({ ...search, jobFile: "digits.xml" }, "application_1_0001")).toEqual(["digits.xml"]);
  expect(givenOf(search, "local_1_0001")).toEqual(["job.xml", "--scheduler", "local"]);
});

test("a search without a best one has none to run alone; its files are in its own folder of the output, or on this machine", () => {
  expect(bestTrialLines(undefined, search, [])).toEqual([]);
  const folder = (outputDir?: string) =>
    searchFolder({ ...search, ...(outputDir !== undefined && { outputDir }) }, "application_1_0001", "/jobs/1");
  expect(["hdfs:///out", "hdfs:///out//", undefined].map(folder)).toEqual([
    "hdfs:///out/application_1_0001",
    "hdfs:///out/application_1_0001",
    "/jobs/1",
  ]);
});

test("settings of the command line are named, whose values nobody kept", () => {
  expect(notGivenLines(search)).toEqual([]);
  expect(
    notGivenLines({ ...search, givenKeys: ["tony.worker.command", "tony.search.max-trials", "tony.search.seed"] }),
  ).toEqual([
    "its command line set tony.worker.command, tony.search.seed, whose values are not kept: write them in place of <the same value>",
  ]);
  expect(givenOf({ ...search, givenKeys: ["tony.worker.command", "tony.search.points"] }, "local_1_0001")).toEqual([
    ...["job.xml", "--scheduler", "local", "-conf", "tony.worker.command=<the same value>"],
  ]);
});

test("why trials failed is told with where to read on, of the first ones", () => {
  const job = { applicationId: "application_1_0001", search, roles: [role("worker", 7)] };
  const failed = (number: number, why?: string, lines?: readonly string[]): TaskStatus => ({
    ...trial(number, undefined, { lr: "1" }),
    trial: { state: "failed", ...(why !== undefined && { why }), ...(lines && { lines }) },
  });
  const one = [
    failed(0, "worker:0 exited 1 on n1: ValueError: lr", ["Traceback (most recent call last):", "ValueError: lr"]),
    trial(1, 0.5, { lr: "2" }),
    failed(2),
    failed(3, "worker:3 exited 2 on n1", ["step 4", "cannot open data/train.bin", ""]),
  ];
  expect(failureLines(trialsOf({ tasks: one }, search), job)).toEqual([
    "trial 0 failed: exited 1 on n1: ValueError: lr: tony-ts logs application_1_0001 trial:0",
    "trial 2 failed: tony-ts logs application_1_0001 trial:2",
    "trial 3 failed: exited 2 on n1: tony-ts logs application_1_0001 trial:3",
    "  | cannot open data/train.bin",
  ]);
  const [elsewhere] = trialsOf({ tasks: one }, search).filter(({ state }) => state === "failed");
  if (elsewhere === undefined) throw new Error("none failed");
  expect(failureLines([{ ...elsewhere, application: "application_1_0000" }], job)[0]).toContain(
    "tony-ts logs application_1_0000 trial:",
  );
  expect(failureLines(trialsOf({ tasks: one }, search).toReversed(), job)).toEqual(
    failureLines(trialsOf({ tasks: one }, search), job),
  );
  const many = Array.from({ length: 7 }, (_, number) => failed(number));
  expect(failureLines(trialsOf({ tasks: many.slice(0, 5) }, search), job)).toHaveLength(5);
  const told = failureLines(trialsOf({ tasks: many }, search), job);
  expect([told.length, told.at(-1)]).toEqual([6, "and 2 more failed (--json has all)"]);
});

test("as CSV they have all digits, when they ran, and quotes where they need them", () => {
  const stopped = {
    ...trial(0, 0.5, { lr: "0.1234567" }),
    ...{ startedAtMs: 1_795_898_798_405, endedAtMs: 1_795_898_800_000 },
    trial: { state: "stopped", why: 'its 0.5, "bad"' },
  } as const;
  const running = { ...trial(1, undefined, { lr: "1" }, "running"), startedAtMs: 1_795_898_799_000 };
  expect(trialCsv(trialsOf({ tasks: [stopped, running] }, search), search)).toEqual([
    "number,task,state,loss,step,lr,optimizer,checkpoint,why,startedAtMs,endedAtMs",
    '0,worker:0,stopped,0.5,,0.1234567,,,"its 0.5, ""bad""",1795898798405,1795898800000',
    "1,worker:1,running,,,1,,,,1795898799000,",
  ]);
});

test("an end of a line in a cell of the CSV, of whichever kind, is none of the table's", () => {
  const because = (why: string) => ({ ...trial(0, undefined, {}), trial: { state: "failed", why } as const });
  const cellOf = (why: string) => trialCsv(trialsOf({ tasks: [because(why)] }, search), search)[1];
  for (const why of ["a\nb", "a\rb", "a,b"]) expect(cellOf(why)).toContain(`,"${why}",`);
});

test("a value that JSON has no number for is told in words, and has its place among the others", () => {
  const odd = (number: number, nonFinite: TrialStatus["nonFinite"]): TaskStatus => ({
    ...trial(number, undefined, { lr: "1", optimizer: "adam" }),
    trial: { state: "completed", ...(nonFinite && { nonFinite }) },
  });
  const tasks = [odd(0, "Infinity"), odd(1, "NaN"), odd(2, "-Infinity"), trial(3, 7, { lr: "1", optimizer: "adam" })];
  const order = (given: SearchStatus) => trialsOf({ tasks }, given).map(({ number }) => number);
  expect([order(search), order({ ...search, direction: "maximize" })]).toEqual([
    [2, 3, 0, 1],
    [0, 3, 2, 1],
  ]);
  expect(bestTrialWords({ tasks }, search)).toBe("best so far: loss -Infinity of trial 2 (lr=1 optimizer=adam)");
  expect(trialCsv(trialsOf({ tasks }, search), search)[1]).toBe("2,worker:2,completed,-Infinity,,1,adam,,,,");
});
