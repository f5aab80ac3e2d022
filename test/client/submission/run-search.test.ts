import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { runSearch, searchAsGiven } from "../../../client/submission/run-search.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { TaskStatus } from "../../../src/job/status.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { StandInCluster } from "./stand-in-cluster.ts";

import "../../support/loaded-client.ts";

const id = "application_1795305600000_0001";

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.startWithSuccess();
});
afterEach(() => there.stop());

const search = {
  "tony.worker.instances": "1",
  "tony.worker.command": "train {{param.x}}",
  "tony.search.param.x": "float 0 1",
  "tony.search.metric": "loss",
  "tony.search.direction": "minimize",
  "tony.search.max-trials": "3",
};

/** @returns also what the ApplicationMaster was to run, where it was submitted */
async function run(
  settings: Readonly<Record<string, string>>,
  choices: {
    readonly local?: boolean;
    readonly detach?: boolean;
    readonly json?: boolean;
    readonly resume?: string;
    readonly conf?: readonly string[];
  } = {},
) {
  const text = there.job(settings, { runsSearch: true });
  let job: unknown;
  there.manager.onSubmit = () => {
    job = there.read(id, "job.json").json;
  };
  const all = { local: false, detach: false, json: false, resume: undefined, conf: undefined, ...choices };
  const exitCode = await runSearch(text, ["job.xml"], all, there.context);
  return { exitCode, job, out: there.context.out.text.trimEnd().split("\n") };
}

function trials(): string {
  const lines = [
    { number: 0, params: { x: 0.5 }, state: "completed", value: 2 },
    { number: 1, params: { x: 0.25 }, state: "interrupted" },
  ];
  const file = path.join(there.folder, "trials.jsonl");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

test("a search is submitted as a job of its trials", async () => {
  const { exitCode, job } = await run(search);
  expect(exitCode).toBe(ExitCode.succeeded);
  expect(job).toMatchObject({ spec: { search: { metric: "loss", maxTrials: 3 } } });
});

test("at its end it is said how its best trial is run again, in the words by which it was described", async () => {
  const outcome = { ...allSucceeded, endedAtMs: noonishMs + 60_000 };
  const params = { x: "0.25" };
  const task: TaskStatus = {
    ...{ task: "worker:0", restarts: 0, params, metrics: { loss: 2 } },
    state: "succeeded",
    trial: { state: "completed" },
  };

  const said = {
    metric: "loss",
    direction: "minimize",
    command: "search",
    parameters: ["x"],
    space: ["float 0 1"],
  } as const;
  const status = aJobStatus({ applicationId: id, state: "succeeded", outcome, tasks: [task], search: said });
  const kept = path.join(there.staging, `history-${there.applicant}`);
  const submitted = run(search);
  const keep = there.manager.onSubmit;
  there.manager.onSubmit = () => {
    keep();
    mkdirSync(kept, { recursive: true });
    writeFileSync(path.join(kept, `${id}.json`), JSON.stringify(status));
  };
  const { out } = await submitted;
  expect(out).toContain(
    "trial 0 alone: tony-ts search job.xml -conf tony.search.points=x=0.25 -conf tony.search.max-trials=1",
  );
});

test("one of this machine runs here", async () => {
  const tooLarge = { ...search, "tony.worker.memory": "99999g" };
  await expect(run(tooLarge, { local: true })).rejects.toThrow(/, this machine has .*: lower tony\.worker\.memory$/);
  expect(there.manager.submitted).toEqual([]);
});

test("the commands that are shown at its end run it where it ran, and its files are there", () => {
  const context = { environment: { XDG_STATE_HOME: "/state" } };
  const onMachine = searchAsGiven(["job.xml"], true, context);
  expect(onMachine.given).toEqual(["job.xml", "--scheduler", "local"]);
  expect(onMachine.localFolder?.("local_1_0001")).toBe("/state/tony-ts/local/local_1_0001");
  expect(searchAsGiven(["job.xml"], false, context)).toEqual({ given: ["job.xml"] });
});

test.each([
  [false, [id]],
  [true, [JSON.stringify({ jsonVersion: 1, applicationId: id })]],
])(
  "one that is left alone prints its id and nothing else (--json: %j), also where it goes on with another",
  async (json, out) => {
    const detached = await run(search, { detach: true, json, resume: trials() });
    expect(detached).toMatchObject({ exitCode: ExitCode.succeeded, out });
    expect(there.context.err.text).toContain("took over 2 trials of ");
  },
);

test.each([
  ["asks Optuna takes along the program that does", { "tony.search.algorithm": "optuna" }, true],
  ["asks nobody takes along no such program", {}, false],
])("one that %s", async (_who, settings, isThere) => {
  const { job } = await run({ ...search, ...settings });
  expect(JSON.stringify(job).includes("import optuna")).toBe(isThere);
});

test("one that goes on with another has its trials, which is said first", async () => {
  const file = trials();
  const { out, job } = await run(search, { resume: file });
  expect(out[0]).toBe(`took over 2 trials of ${file}: 1 ended, 1 begins again`);
  expect(JSON.stringify(job)).toContain('"x":0.25');
});

test("to programs all that is said are events", async () => {
  const file = trials();
  const { out } = await run(search, { resume: file, json: true });
  const events = out.map((line) => JSON.parse(line));
  expect(events[0]).toMatchObject({ event: "remark", text: expect.stringMatching(/^took over 2 trials of /) });
  expect(events).toContainEqual(expect.objectContaining({ event: "job", applicationId: id }));
  expect(events.at(-1)).toMatchObject({ event: "end", exitCode: 0 });
});

test.each([
  ["is none", { "tony.worker.instances": "1" }, {}, "bert is not a search"],
  [
    "cannot run",
    { ...search, "tony.worker.instances": "2", "tony.application.distributed-mode": "fcfs" },
    {},
    "This search does not run: trials of several tasks start all their tasks together",
  ],
  ["is wrong", { ...search, "tony.search.direction": "up" }, {}, "tony.search.direction"],
  ["goes on with nothing", search, { resume: "none.jsonl" }, "it is neither an application's id nor a file"],
])("one that %s is refused, and nothing is submitted", async (_what, settings, choices, message) => {
  await expect(run(settings, choices)).rejects.toThrow(message);
  expect([there.manager.submitted, there.cached()]).toEqual([[], []]);
});
