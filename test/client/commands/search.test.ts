import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { parseArguments } from "../../../client/command-line/arguments.ts";
import { commands } from "../../../client/commands/commands.ts";
import { leftStatusFileName } from "../../../src/job/stored/stored-job.ts";
import { eventually } from "../../support/eventually.ts";
import { aJobStatus } from "../job-status.ts";
import { StandInCluster } from "../submission/stand-in-cluster.ts";
import { recordedContext } from "../support.ts";

// Loaded before the command does so, several at once, which Jest's loader cannot.
import "../../../client/submission/run-search.ts";
import "../../../client/submission/search-forecast.ts";
import "../../support/loaded-client.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "search-"));
  write({
    "tony.application.name": "digits",
    "tony.worker.instances": "1",
    "tony.worker.command": "train --lr {{param.lr}} --optimizer {{param.optimizer}}",
    "tony.search.param.lr": "float 0.1 0.4 step 0.1",
    "tony.search.param.optimizer": "choice adam sgd",
    "tony.search.metric": "accuracy",
    "tony.search.direction": "maximize",
    "tony.search.algorithm": "grid",
    "tony.search.max-parallel": "3",
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(properties: Readonly<Record<string, string>>): void {
  const xml = Object.entries(properties).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  writeFileSync(path.join(folder, "job.xml"), `<configuration>${xml.join("\n")}</configuration>`);
}

async function ran(...words: readonly string[]) {
  const inFolder = words.map((word) => (word === "job.xml" ? path.join(folder, word) : word));
  const parsed = await parseArguments(inFolder, commands);
  if (!("run" in parsed)) throw new Error(parsed.text);
  const context = recordedContext({ workingDirectory: folder });
  const exitCode = await parsed.run(context);
  return { exitCode, out: context.out.text, err: context.err.text };
}

describe("tony-ts search --dry-run", () => {
  test("shows the first trials, and what the first one runs", async () => {
    const { exitCode, out, err } = await ran("search", "--dry-run", "job.xml");
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(out.split("\n")).toEqual([
      "digits · grid, maximize accuracy · all trials of the grid, 3 at once · worker × 1 (2 GiB, 1 core)",
      "trial   lr    optimizer",
      "0       0.1   adam",
      "1       0.1   sgd",
      "2       0.2   adam",
      "trial 0 · worker: train --lr 0.1 --optimizer adam",
      "Nothing was run.",
      "",
    ]);
  });

  test("goes on behind the trials that there are, until there is nothing more to try", async () => {
    const tried = [0.1, 0.2, 0.3].flatMap((lr) => [
      { lr, optimizer: "adam" },
      { lr, optimizer: "sgd" },
    ]);
    writeFileSync(
      path.join(folder, "trials.jsonl"),
      tried.map((params) => `${JSON.stringify({ params, value: 0.5 })}\n`).join(""),
    );
    const one = await ran("search", "--dry-run", "--after", "trials.jsonl", "--trials", "1", "--json", "job.xml");
    expect(JSON.parse(one.out)).toMatchObject({
      dryRun: true,
      trials: [
        {
          number: 6,
          params: { lr: 0.4, optimizer: "adam" },
          commands: { worker: "train --lr 0.4 --optimizer adam" },
        },
      ],
    });
    const all = await ran("search", "--dry-run", "--after", "trials.jsonl", "job.xml");
    expect(all.out).toContain("These are all: 8 trials is everything that there is to try.");
  });

  test("tells which trials that run are to be stopped", async () => {
    const trial = (...values: (number | null)[]) => ({
      params: { lr: 0.1, optimizer: "adam" },
      reports: values.map((value, index) => [index + 1, value]),
    });
    const completed = [1, 2, 3, 4, 5].map((value) => ({ ...trial(value, value), value }));
    const lines = [...completed, trial(1, 2.5), trial(4), trial(null)].map((one) => `${JSON.stringify(one)}\n`);
    writeFileSync(path.join(folder, "trials.jsonl"), lines.join(""));
    const asked = ["search", "--dry-run", "--after", "trials.jsonl", "job.xml"];
    const median = await ran(...asked, "-conf", "tony.search.stop=median");
    expect(median.out.split("\n").filter((line) => line.includes("stopped"))).toEqual([
      "trial 5 is to be stopped: its best by step 2, 2.5, is worse than 3, the median of what 5 trials had on average by then",
    ]);
    const asha = ["-conf", "tony.search.stop=asha", "-conf", "tony.search.budget=1 9 4"];
    expect((await ran(...asked, ...asha)).out.split("\n").filter((line) => line.includes("stopped"))).toEqual([
      "trial 6 is to be stopped: its 4 at the rung of step 1 is not among the best 2 of 8 trials there",
      "trial 7 is to be stopped: its NaN at the rung of step 1 is not among the best 2 of 8 trials there",
    ]);
    expect(JSON.parse((await ran(...asked, ...asha, "--json")).out).stops).toMatchObject([
      { number: 6, rule: "asha", step: 1, value: 4, best: 2, trials: 8 },
      { number: 7, rule: "asha" },
    ]);
  });

  test("refuses the trials of a search for something else", async () => {
    const search = { metric: "other", direction: "minimize", space: {} };
    const line = { params: { lr: 0.1, optimizer: "adam" }, value: 1, search };
    writeFileSync(path.join(folder, "trials.jsonl"), `${JSON.stringify(line)}\n`);
    const asked = ran("search", "--dry-run", "--after", "trials.jsonl", "job.xml");
    await expect(asked).rejects.toThrow(/^trials.jsonl:1: it was to minimize other, this search is to /);
  });

  test("says that a next generation waits for those that run", async () => {
    const { out } = await ran(
      "search",
      "--dry-run",
      "--trials",
      "9",
      "job.xml",
      "-conf",
      "tony.search.algorithm=evolution",
    );
    expect(out).toContain("What comes next depends on the running trials.");
  });

  test.each([
    [["search", "--dry-run", "--resume", "a.jsonl", "job.xml"], "--dry-run goes on with --after FILE"],
    [["search", "--resume", "a.jsonl", "job.xml"], "--resume a.jsonl: it is neither an application's id nor a file"],
    [["search", "--trials", "1", "job.xml"], "--trials and --after need --dry-run"],
    [["search", "--after", "a.jsonl", "job.xml"], "--trials and --after need --dry-run"],
    [
      ["search", "--dry-run", "--detach", "job.xml"],
      "--dry-run runs nothing, so there is no search to leave with --detach",
    ],
    [
      ["search", "job.xml", "-conf", "tony.worker.instances=2", "-conf", "tony.application.distributed-mode=fcfs"],
      "This search does not run: trials of several tasks start all their tasks together",
    ],
    [
      ["search", "--dry-run", "--trials", "some", "job.xml"],
      "--trials takes a number of trials from 1 to 99999, not some",
    ],
    [["search", "--dry-run", "--after", "no.jsonl", "job.xml"], "--after no.jsonl cannot be read: "],
    [["submit", "job.xml"], "The job describes a search (tony.search.*): tony-ts search runs it"],
    [["submit", "--scheduler", "local", "job.xml"], "The job describes a search"],
  ])("%j is refused: %s", async (words, message) => {
    await expect(ran(...words)).rejects.toThrow(message);
  });

  test("a line of trials that cannot be read is told with its place", async () => {
    const after = (params: string) => {
      const lines = `{"params": {"lr": 0.1, "optimizer": "sgd"}}\n\n{"params": ${params}}\n`;
      writeFileSync(path.join(folder, "trials.jsonl"), lines);
      return ran("search", "--dry-run", "--after", "trials.jsonl", "job.xml");
    };
    await expect(after('{"rate": 1}')).rejects.toThrow(
      "trials.jsonl:3: rate is not a parameter of this search but has a value",
    );
    await expect(after('{"lr": 7, "optimizer": "sgd"}')).rejects.toThrow(
      "trials.jsonl:3: lr is 7, and this search has float 0.1 0.4 step 0.1",
    );
    await expect(after('{"lr": 0.1}')).rejects.toThrow("trials.jsonl:3: optimizer has no value");
  });

  test("a job without a search is refused, and one that is wrong", async () => {
    write({ "tony.worker.instances": "1", "tony.worker.command": "true" });
    await expect(ran("search", "--dry-run", "job.xml")).rejects.toThrow("is not a search: set tony.search.param.NAME");
    write({ "tony.worker.instances": "1", "tony.worker.command": "true", "tony.search.metric": "loss" });
    await expect(ran("search", "--dry-run", "job.xml")).rejects.toThrow("needs parameters");
  });
});

describe("tony-ts search", () => {
  const id = "application_1795305600000_0001";
  let there: StandInCluster;
  beforeEach(async () => {
    there = await StandInCluster.startWithSuccess();
  });
  /** Nothing that the command opened may still be open. */
  afterEach(async () => {
    await eventually("all to leave the ResourceManager", () => there.manager.callers === 0, 3_000);
    await there.stop();
  });

  /** By somebody who has that cluster. */
  async function run(...words: readonly string[]) {
    const places = [`tony.staging-dir=file://${there.staging}`, "tony.node.binary=local:/opt/node"];
    const conf = places.flatMap((one) => ["--conf", one]);
    const parsed = await parseArguments(["search", path.join(folder, "job.xml"), ...conf, ...words], commands);
    if (!("run" in parsed)) throw new Error(parsed.text);
    const exitCode = await parsed.run(there.context);
    return { exitCode, out: there.context.out.text, err: there.context.err.text };
  }

  test("runs the trials on the cluster, shows them, and exits as their job does; at the end says what runs the best one alone", async () => {
    let stored: unknown;
    const trial = { task: "worker:0", state: "succeeded", restarts: 0, params: { lr: "0.2" } } as const;
    const tasks = [{ ...trial, metrics: { accuracy: 0.9 }, trial: { state: "completed" } }] as const;
    const search = {
      metric: "accuracy",
      direction: "maximize",
      parameters: ["lr"],
      command: "t {{param.lr}}",
    } as const;
    there.manager.onSubmit = () => {
      stored = there.read(id, "job.json").json;
      const left = aJobStatus({ applicationId: id, search, tasks });
      writeFileSync(path.join(there.staging, id, leftStatusFileName), JSON.stringify(left));
    };
    const { exitCode, out } = await run("--conf", "tony.search.max-parallel=2");
    expect(exitCode).toBe(0);
    expect(stored).toMatchObject({ spec: { search: { metric: "accuracy", maxParallel: 2 } } });
    expect(out).toContain("accuracy 0.9 of trial 0");
    expect(out).toMatch(
      new RegExp(
        `trial 0 alone: tony-ts search ${folder}/job\\.xml --conf tony\\.staging-dir=.* --conf tony\\.search\\.max-parallel=2`,
      ),
    );
  });

  test("with --detach prints the id, and leaves it", async () => {
    there.manager.taken = { state: "ACCEPTED" };
    expect(await run("--detach")).toMatchObject({ exitCode: 0, out: `${id}\n` });
    expect(there.manager.killed).toEqual([]);
  });

  test("with --json prints events, the last of which is the end", async () => {
    const { out } = await run("--json");
    const events = out.trimEnd().split("\n");
    expect(JSON.parse(events.at(-1) ?? "")).toMatchObject({ event: "end", exitCode: 0 });
  });

  test("with --resume continues the trials of a file", async () => {
    let stored: unknown;
    there.manager.onSubmit = () => {
      stored = there.read(id, "job.json").json;
    };
    const file = path.join(folder, "trials.jsonl");
    writeFileSync(file, `${JSON.stringify({ params: { lr: 0.1, optimizer: "sgd" }, value: 0.5 })}\n`);
    expect((await run("--resume", file)).exitCode).toBe(0);
    expect(stored).toMatchObject({ spec: { search: { before: [{ params: { lr: 0.1, optimizer: "sgd" } }] } } });
  });

  test("with --scheduler local this machine is asked, and no cluster", async () => {
    const tooLarge = ["--conf", "tony.worker.memory=9000000g"];
    await expect(run("--scheduler", "local", ...tooLarge)).rejects.toThrow("this machine has");
    expect(there.manager.submitted).toEqual([]);
  });
});

test("validate says why a search could not be run", async () => {
  const several = ["-conf", "tony.worker.instances=2"];
  const { exitCode, out } = await ran(
    "validate",
    "job.xml",
    ...several,
    "-conf",
    "tony.application.distributed-mode=fcfs",
  );
  expect(exitCode).toBe(0);
  expect(out).toContain("tony-ts search does not run it: trials of several tasks start all their tasks together");
  expect((await ran("validate", "job.xml", ...several)).out).not.toContain("does not run it");
});

test("validate shows where a search looks", async () => {
  const { out } = await ran("validate", "job.xml");
  expect(out.split("\n").slice(1)).toEqual([
    "search: grid, maximize accuracy · all trials of the grid, 3 at once",
    "  lr          float 0.1 0.4 step 0.1",
    "  optimizer   choice adam sgd",
    "",
  ]);
  expect(JSON.parse((await ran("validate", "--json", "job.xml")).out)).toMatchObject({
    search: { metric: "accuracy" },
  });
});
