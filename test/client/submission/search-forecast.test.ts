import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type ClientContext, variablesOf } from "../../../client/context.ts";
import { forecastSearch } from "../../../client/submission/search-forecast.ts";
import { type JobText, readJob } from "../../../src/job/build/load-job.ts";
import { recordedContext } from "../support.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "forecast-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const FILE = "trials.jsonl";

/** A search of a grid of four. @param before the trials that there are, a line each */
function forecast(
  before: readonly (object | string)[],
  settings: Readonly<Record<string, string>> = {},
  { count, json = false }: { readonly count?: number; readonly json?: boolean } = {},
) {
  const context = recordedContext({ workingDirectory: folder });
  const lines = before.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path.join(folder, FILE), lines.join("\n"));
  const after = before.length === 0 ? undefined : FILE;
  expect(forecastSearch(textOf(settings, context), { after, count, json }, context)).toBe(0);
  return { out: context.out.text.trimEnd().split("\n"), err: context.err.text };
}

/** The job of that search; what is set to nothing is left out. */
function textOf(settings: Readonly<Record<string, string>>, context: ClientContext): JobText {
  const all = {
    "tony.application.name": "digits",
    "tony.application.framework": "generic",
    "tony.worker.instances": "1",
    "tony.worker.command": "train {{param.x}}",
    "tony.search.param.x": "choice a b c d",
    "tony.search.metric": "loss",
    "tony.search.direction": "minimize",
    "tony.search.algorithm": "grid",
    "tony.search.max-parallel": "2",
    ...settings,
  };
  const conf = Object.entries(all).flatMap(([key, value]) => (value === "" ? [] : [`${key}=${value}`]));
  return readJob({ conf }, { variables: variablesOf(context) });
}

const completed = (x: string, value = 1) => ({ params: { x }, value });

test("as many come next as run at once, each another one, with the numbers behind those that there are", () => {
  const { out } = forecast([completed("a")]);
  expect(out.slice(1)).toEqual([
    "trial   x",
    "1       b",
    "2       c",
    "trial 1 · worker: train b",
    "Nothing was run.",
  ]);
  expect(forecast([]).out.slice(2, 4)).toEqual(["0       a", "1       b"]);
});

test("so many come as are asked for, while there are any; then it is said how many these are in all", () => {
  const rows = (count: number, settings = {}) =>
    forecast([completed("a")], settings, { count }).out.filter((line) => /^\d/.test(line)).length;
  expect([rows(1), rows(3), rows(9)]).toEqual([1, 3, 3]);
  const last = (settings = {}) => forecast([completed("a")], settings, { count: 9 }).out.at(-2);
  expect(last()).toBe("These are all: 4 trials is everything that there is to try.");
  expect(rows(9, { "tony.search.max-trials": "3" })).toBe(2);
  expect(last({ "tony.search.max-trials": "3" })).toBe("These are all: 3 trials (tony.search.max-trials).");
});

test("where there is nothing more no command is shown", () => {
  expect(forecast(["a", "b", "c", "d"].map((x) => completed(x))).out.slice(1)).toEqual([
    "trial   x",
    "These are all: 4 trials is everything that there is to try.",
    "Nothing was run.",
  ]);
});

test("what Optuna proposes is known only while the search runs", () => {
  expect(forecast([], { "tony.search.algorithm": "optuna", "tony.search.max-trials": "9" }).out.at(-2)).toBe(
    "What comes next is up to Optuna, which is asked only while the search runs.",
  );
});

test("what a next generation is depends on the trials that run", () => {
  const evolution = { "tony.search.algorithm": "evolution", "tony.search.param.x": "float 0 1 step 0.01" };
  expect(forecast([], { ...evolution, "tony.search.max-trials": "99" }, { count: 99 }).out.at(-2)).toBe(
    "What comes next depends on the running trials.",
  );
});

test("of the trials that do badly those alone are to be stopped that run", () => {
  const at = (x: string, loss: number) => ({ params: { x }, reports: [[1, loss]] });
  const trials = [{ ...at("a", 1), value: 1 }, { ...at("b", 9), value: 9 }, at("c", 2), at("d", 8)];
  const stop = { "tony.search.stop": "asha", "tony.search.budget": "1 4 4" };
  const { out } = forecast(trials, stop, { json: true });
  expect(JSON.parse(out.join("\n"))).toMatchObject({
    trials: [],
    end: "exhausted",
    stops: [
      { number: 2, step: 1, value: 2 },
      { number: 3, step: 1, value: 8 },
    ],
  });
  expect(forecast(trials, stop).out.filter((line) => line.includes("is to be stopped"))).toEqual([
    "trial 2 is to be stopped: its 2 at the rung of step 1 is not among the best 1 of 4 trials there",
    "trial 3 is to be stopped: its 8 at the rung of step 1 is not among the best 1 of 4 trials there",
  ]);
});

test("programs get the search, and each trial with its command for each role", () => {
  const { out } = forecast([completed("a")], {}, { json: true, count: 1 });
  const said: unknown = JSON.parse(out.join("\n"));
  expect(said).toMatchObject({
    dryRun: true,
    search: { metric: "loss", algorithm: "grid" },
    trials: [{ number: 1, params: { x: "b" }, commands: { worker: "train b" } }],
    stops: [],
  });
  expect(said).not.toHaveProperty("end");
});

test("a person is told first what is doubtful about the job", () => {
  expect(forecast([], { "tony.worker.command": "python main.py {{param.x}}" }).err).toMatch(/runs main\.py/);
});

test.each<[string, Readonly<Record<string, string>>, object]>([
  [
    "a job that is no search",
    {
      "tony.worker.command": "true",
      "tony.search.max-parallel": "",
      "tony.search.param.x": "",
      "tony.search.metric": "",
      "tony.search.direction": "",
      "tony.search.algorithm": "",
    },
    {
      code: "USAGE",
      message: "digits is not a search: set tony.search.param.NAME, tony.search.metric and tony.search.direction",
    },
  ],
  ["one that is wrong", { "tony.worker.memory": "much" }, { code: "JOB_INVALID" }],
])("%s is refused", (_what, settings, error) => {
  expect(() => forecast([], settings)).toThrow(expect.objectContaining(error));
});

test("a file of trials that is not there is told with its name", () => {
  rmSync(path.join(folder, FILE), { force: true });
  const context = recordedContext({ workingDirectory: folder });
  expect(() => forecastSearch(textOf({}, context), { after: FILE, count: 1, json: false }, context)).toThrow(
    /^--after trials\.jsonl cannot be read: ENOENT/,
  );
});

test("a line that is no trial of this search is told with its place, blank ones counted", () => {
  const first = completed("a");
  expect(() => forecast([first, " ", { params: { x: "e" } }])).toThrow(
    "trials.jsonl:3: x is e, and this search has choice a b c d",
  );
  expect(() => forecast([first, "{"])).toThrow(/^trials\.jsonl:2: /);
  const other = { metric: "loss", direction: "maximize", space: {} };
  expect(() => forecast([{ ...first, search: other }])).toThrow(
    "trials.jsonl:1: it was to maximize loss, this search is to minimize loss",
  );
});
