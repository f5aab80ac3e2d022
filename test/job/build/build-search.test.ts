import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { lookUpLocalPath } from "../../../src/job/build/load-job.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { check, minimalJob, saidAbout } from "../support.ts";

const goal = { "tony.search.metric": "accuracy", "tony.search.direction": "maximize" };
const rate = { "tony.search.param.rate": "float 1e-5 1e-1 log" };
/** The first line behind the smallest job. */
const line = Object.keys(minimalJob).length + 1;

/** What is said about a search, a line each. */
function said(values: Readonly<Record<string, string>>, workingDirectory = "/home/ada"): string[] {
  return saidAbout({ ...minimalJob, ...values }, { workingDirectory, lookUp: lookUpLocalPath });
}

describe("a job that describes a search", () => {
  test("has its parameters, those of a condition behind what they wait for", () => {
    const { search, problems } = check({
      ...minimalJob,
      "tony.search.param.momentum": "float 0 1 when optimizer=sgd",
      "tony.search.param.optimizer": "choice adam sgd",
      ...goal,
      "tony.search.points": 'optimizer=sgd momentum=0.9; optimizer="adam"',
      "tony.search.max-trials": "20",
      "tony.search.seed": "7",
    });
    expect(problems).toEqual([]);
    expect(search).toEqual({
      space: [
        { name: "optimizer", domain: { kind: "choice", choices: ["adam", "sgd"] } },
        {
          name: "momentum",
          domain: { kind: "float", low: 0, high: 1, log: false },
          when: { parameter: "optimizer", values: ["sgd"] },
        },
      ],
      points: [{ optimizer: "sgd", momentum: 0.9 }, { optimizer: "adam" }],
      metric: "accuracy",
      direction: "maximize",
      algorithm: "tpe",
      maxTrials: 20,
      maxParallel: 4,
      population: 6,
      stop: "none",
      failures: { onFailed: "continue" },
      retries: 2,
      seed: 7,
    });
  });

  test("keeps containers that no trial waits for where it says so, but none whose files are copied", () => {
    const keep = { ...rate, ...goal, "tony.search.keep-idle-ms": "30s" };
    expect(check({ ...minimalJob, ...keep })).toMatchObject({ search: { keepIdleMs: 30_000 }, problems: [] });
    expect(check({ ...minimalJob, ...rate, ...goal }).search).not.toHaveProperty("keepIdleMs");
    const copied = { "tony.checkpoint.local-dir": "ckpt", "tony.application.checkpoint-dir": "hdfs:///ckpt" };
    expect(said({ ...keep, ...copied })).toEqual([
      `job.xml:${line + 3}: warning: tony.search.keep-idle-ms has no effect with tony.checkpoint.local-dir: a container whose files are copied is returned after its trial`,
    ]);
  });

  test("has points whose values have what stands between points and their values in quotes", () => {
    const odd = {
      "tony.search.param.opt": 'choice "a;b" "x=y z" ""',
      "tony.search.points": 'opt="a;b"; opt="x=y z";opt=""',
    };
    expect(check({ ...minimalJob, ...odd, ...goal }).search?.points).toEqual([
      { opt: "a;b" },
      { opt: "x=y z" },
      { opt: "" },
    ]);
  });

  test("keeps the checkpoints of as many trials as it says, of those that executors store", () => {
    const stored = { "tony.checkpoint.local-dir": "ckpt", "tony.application.checkpoint-dir": "hdfs:///ckpt" };
    const keep = (kept: string, more = {}) => ({
      ...rate,
      ...goal,
      "tony.search.keep-checkpoints": kept,
      ...more,
    });
    expect(check({ ...minimalJob, ...keep("3", stored) })).toMatchObject({
      search: { keepCheckpoints: 3 },
      problems: [],
    });
    expect(check({ ...minimalJob, ...keep("All", stored) }).search).not.toHaveProperty("keepCheckpoints");
    expect(said(keep("3"))).toEqual([
      `job.xml:${line + 3}: warning: tony.search.keep-checkpoints has no effect without tony.checkpoint.local-dir: tony-ts removes only checkpoints that its executors stored`,
    ]);
    expect(said(keep("best", stored)).join()).toMatch(
      /keep-checkpoints.*all, or a number of trials such as 3, not "best"/,
    );
  });

  test("ends where it says", () => {
    const limits = {
      "tony.search.goal": "-0.5",
      "tony.search.timeout": "2h",
      "tony.search.max-failed-trials": "9",
      "tony.search.max-failed-trials-in-a-row": "3",
      "tony.search.on-failed-trial": "end",
    };
    const { search } = check({ ...minimalJob, ...goal, ...rate, ...limits });
    expect(search).toMatchObject({
      goal: -0.5,
      timeoutMs: 7_200_000,
      failures: { onFailed: "end", most: 9, mostInARow: 3 },
    });
    expect(said({ ...goal, ...rate, "tony.search.goal": "high" }).join()).toMatch(
      /tony\.search\.goal.*a number such as 0\.95/,
    );
  });

  test("by asha has the rungs that it names", () => {
    const { search } = check({
      ...minimalJob,
      ...goal,
      ...rate,
      "tony.search.stop": "asha",
      "tony.search.budget": "1 81 3",
    });
    expect(search).toMatchObject({ stop: "asha", budget: { min: 1, max: 81, factor: 3 } });
  });

  test("has 100 trials, of a grid all that there are, of evolution five generations, of hyperband a round", () => {
    const evolution = { "tony.search.algorithm": "evolution", "tony.search.population": "8" };
    expect(check({ ...minimalJob, ...goal, ...rate, ...evolution }).search).toMatchObject({
      maxTrials: 40,
      population: 8,
    });
    expect(check({ ...minimalJob, ...goal, ...rate }).search).toMatchObject({ maxTrials: 100 });
    const hyperband = { "tony.search.stop": "hyperband", "tony.search.budget": "1 81 3" };
    expect(check({ ...minimalJob, ...goal, ...rate, ...hyperband }).search).toMatchObject({ maxTrials: 143 });
    const grid = { "tony.search.algorithm": "grid", "tony.search.param.units": "int 1 3" };
    expect(check({ ...minimalJob, ...goal, ...grid }).search).not.toHaveProperty("maxTrials");
  });

  test("by Optuna has a Python, and keeps containers while it is asked unless the job says otherwise", () => {
    const optuna = { ...minimalJob, ...goal, ...rate, "tony.search.algorithm": "optuna" };
    expect(check(optuna).search).toMatchObject({ optunaPython: "python3", keepIdleMs: 5_000, maxTrials: 100 });
    const named = { ...optuna, "tony.python-exec-path": "/opt/py/bin/python3", "tony.search.keep-idle-ms": "0" };
    expect(check(named).search).toMatchObject({ optunaPython: "/opt/py/bin/python3" });
    expect(check(named).search).not.toHaveProperty("keepIdleMs");
    const own = { ...named, "tony.search.optuna.python": "venv/bin/python3" };
    expect(check(own).search).toMatchObject({ optunaPython: "venv/bin/python3" });
  });

  test("by a grid that is larger than its trials is told so", () => {
    const job = { ...minimalJob, ...goal, "tony.search.algorithm": "grid", "tony.search.param.units": "int 1 9" };
    const told = (most: string, more = {}) =>
      check({ ...job, ...more, "tony.search.max-trials": most }).problems.map(({ message }) => message);
    expect(told("5")).toEqual([
      "tony.search.max-trials = 5 is less than the size of the grid: only the first 5 of its 9 combinations are tried",
    ]);
    expect(told("9")).toEqual([]);
    expect(told("7", { "tony.search.param.seed": "int 1 100000" })).toEqual([
      "tony.search.max-trials = 7 is less than the size of the grid: only the first 7 of its 900000 combinations are tried",
    ]);
  });

  test("any other job has none", () => {
    expect(check(minimalJob)).not.toHaveProperty("search");
  });

  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    [
      "without what it needs",
      rate,
      [
        "tony.search.param.rate belongs to a search, which needs tony.search.metric: the name of the metric to optimize",
        "tony.search.param.rate belongs to a search, which needs tony.search.direction: minimize or maximize",
      ],
    ],
    [
      "without parameters",
      goal,
      [
        "tony.search.metric belongs to a search, which needs parameters: set tony.search.param.NAME, such as float 1e-5 1e-1 log",
      ],
    ],
    [
      "whose parameter cannot be read",
      { "tony.search.param.rate": "float 1 0", ...goal },
      ['tony.search.param.rate must be float LOW HIGH with the lower number first, not "float 1 0"'],
    ],
    [
      "whose parameter's name is none",
      { "tony.search.param.learning-rate": "float 0 1", ...goal },
      [
        "tony.search.param.learning-rate names a parameter learning-rate: write it with letters, digits and _, such as learning_rate",
      ],
    ],
    [
      "with a condition on what is not there",
      {
        "tony.search.param.momentum": "float 0 1 when optimiser=sgd",
        "tony.search.param.optimizer": "choice a b",
        ...goal,
      },
      ["tony.search.param.momentum names optimiser, which is not a parameter of the search; did you mean optimizer?"],
    ],
    [
      "with a condition on itself",
      { "tony.search.param.a": "choice x y when a=x", ...goal },
      ["tony.search.param.a depends on a, which depends on it"],
    ],
    [
      "with a condition on numbers",
      { "tony.search.param.a": "int 1 2", "tony.search.param.b": "int 1 2 when a=1", ...goal },
      ["tony.search.param.b has a condition on a, which is not a choice"],
    ],
    [
      "with a condition that never holds",
      { "tony.search.param.a": "choice x y", "tony.search.param.b": "int 1 2 when a=z", ...goal },
      ["tony.search.param.b depends on a=z, which is not one of its choices: x, y"],
    ],
    [
      "by a grid without steps",
      { ...rate, "tony.search.algorithm": "grid", ...goal },
      ["tony.search.param.rate has no grid: give rate choices (choice 0.00001 0.0001 0.001 0.01 0.1)"],
    ],
    [
      "by asha without rungs",
      { ...rate, "tony.search.stop": "asha", ...goal },
      ["tony.search.stop = asha needs tony.search.budget: its rungs as MIN MAX FACTOR in steps, such as 1 81 3"],
    ],
    [
      "by hyperband without rungs",
      { ...rate, "tony.search.stop": "hyperband", ...goal },
      ["tony.search.stop = hyperband needs tony.search.budget: its rungs as MIN MAX FACTOR in steps, such as 1 81 3"],
    ],
    [
      "by a rule that stops trials",
      { ...rate, "tony.search.algorithm": "ASHA", ...goal },
      [
        'tony.search.algorithm must be one of tpe, random, grid, evolution, optuna, not "asha", which is a rule of another key: set tony.search.stop = asha',
      ],
    ],
    [
      "with points outside",
      { ...rate, "tony.search.points": "rate=1; lr=0.1 rate=0.1", ...goal },
      [
        "tony.search.points has the point rate=1, whose rate=1 does not fit float 0.00001 0.1 log",
        "tony.search.points has the point lr=0.1 rate=0.1, which names lr, which is not a parameter of the search",
      ],
    ],
    [
      "with a point in part",
      { ...rate, "tony.search.param.units": "int 1 8", "tony.search.points": "rate=0.1", ...goal },
      ["tony.search.points has the point rate=0.1, which has no units"],
    ],
    [
      "whose parameter cannot be read, in a command, a condition and a point, for that alone",
      {
        "tony.search.param.a": "choices x y",
        "tony.search.param.b": "int 1 2 when a=x",
        "tony.search.points": "a=y",
        "tony.containers.command": "train --a {{param.a}}",
        ...goal,
      },
      [
        'tony.search.param.a must be a parameter such as float 1e-5 1e-1 log, float 0 1 step 0.1, int 1 8 or choice adam sgd, not "choices x y"',
      ],
    ],
    [
      "with words in a point that are none of a parameter",
      { ...rate, "tony.search.points": "0.1; rate=0.1 fast; rate=0.1 # to begin with", ...goal },
      [
        "tony.search.points has the point 0.1, in which 0.1 is not NAME=VALUE",
        "tony.search.points has the point rate=0.1 fast, in which fast is not NAME=VALUE",
        "tony.search.points has the point rate=0.1 # to begin with, in which # to begin with is not NAME=VALUE",
      ],
    ],
    [
      "with two values of a parameter in a point",
      { ...rate, "tony.search.points": "rate=0.1 rate=0.01", ...goal },
      ["tony.search.points has the point rate=0.1 rate=0.01, which has rate twice"],
    ],
    [
      "with a point that stands there before",
      { ...rate, "tony.search.points": "rate=0.1; rate=0.01; rate=1e-1", ...goal },
      ["tony.search.points has the point rate=1e-1, which is a duplicate: nothing is tried twice"],
    ],
    [
      "whose parameters have one variable",
      { ...rate, "tony.search.param.RATE": "int 1 2", ...goal },
      [
        "tony.search.param.RATE names a parameter RATE, whose variable TONY_PARAM_RATE is that of rate, too: rename one of them",
      ],
    ],
    [
      "with more trials than any search has",
      { ...rate, "tony.search.max-trials": "10001", ...goal },
      ['tony.search.max-trials must be a whole number between 1 and 10000, not "10001"'],
    ],
    [
      "whose rungs are upside down",
      { ...rate, "tony.search.budget": "81 1 3", "tony.search.stop": "asha", ...goal },
      [
        'tony.search.budget must be MIN MAX FACTOR in whole steps, MIN at most MAX and FACTOR at least 2, such as 1 81 3, not "81 1 3"',
      ],
    ],
    [
      "with a point that has what is not there",
      {
        "tony.search.param.a": "choice x y",
        "tony.search.param.b": "int 1 2 when a=x",
        "tony.search.points": "a=y b=1",
        ...goal,
      },
      ["tony.search.points has the point a=y b=1, which sets b, although its condition does not hold"],
    ],
  ])("%s is told so", (_, values, expected) => {
    const keys = Object.keys(values);
    const place = (text: string) => `job.xml:${line + keys.findIndex((key) => text.startsWith(`${key} `))}: ${text}`;
    expect(said(values)).toEqual(expected.map(place));
  });

  test("a command that names what is no parameter is told, with its line", () => {
    const command = { "tony.containers.command": "train --rate {{param.rate}} --units {{param.rat}}" };
    expect(said({ ...rate, ...goal, ...command })).toEqual([
      "job.xml:2: tony.containers.command names rat, which is not a parameter of the search; did you mean rate?",
    ]);
  });

  test("a command with a blank where a parameter's name begins is told how it is written", () => {
    const command = { "tony.containers.command": "train --rate {{ param.rate }}" };
    expect(said({ ...rate, ...goal, ...command })).toEqual([
      "job.xml:2: tony.containers.command has {{ param.rate }}: write {{param.rate}}",
    ]);
  });

  test("is told of what has no effect", () => {
    const saidOf = (values: Readonly<Record<string, string>>) => said({ ...rate, ...goal, ...values });
    const warning = `job.xml:${line + 3}: warning: `;
    const budget = { "tony.search.budget": "1 81 3" };
    expect(saidOf(budget)).toEqual([
      `${warning}tony.search.budget has no effect with tony.search.stop = none: set it to asha, asha-promotion or hyperband`,
    ]);
    expect(saidOf({ ...budget, "tony.search.stop": "asha" })).toEqual([]);
    const population = { "tony.search.population": "8" };
    expect(saidOf(population)).toEqual([
      `${warning}tony.search.population has no effect with tony.search.algorithm = tpe: set it to evolution`,
    ]);
    expect(saidOf({ ...population, "tony.search.algorithm": "evolution" })).toEqual([]);
    expect(saidOf({ "tony.search.points": "rate=0.1; rate=0.01", "tony.search.max-trials": "1" })).toEqual([
      `${warning}tony.search.points has 2 points, more than the search has trials (tony.search.max-trials = 1): the last ones are not tried`,
    ]);
  });

  test("a command in which an option would take the next word, where a trial has no such parameter, is told", () => {
    const space = {
      "tony.search.param.optimizer": "choice adam sgd",
      "tony.search.param.momentum": "float 0 1 when optimizer=sgd",
    };
    const saidOf = (command: string) => said({ ...space, ...goal, "tony.containers.command": command });
    expect(saidOf("train --optimizer {{param.optimizer}} --momentum {{param.momentum}} data")).toEqual([
      expect.stringContaining(
        "tony.containers.command has --momentum {{param.momentum}}, which is not in every trial: without it, --momentum takes the next word as its value; write --momentum={{param.momentum}}",
      ),
    ]);
    expect(saidOf("train --optimizer {{param.optimizer}} --momentum={{param.momentum}} data")).toEqual([]);
  });

  test("a command of any framework may name its parameters", () => {
    const generic = { "tony.application.framework": "generic" };
    const command = { "tony.containers.command": "train --rate {{param.rate}}" };
    expect(said({ ...rate, ...goal, ...generic, ...command })).toEqual([]);
    expect(said({ ...generic, ...command })).toEqual([
      expect.stringContaining("has {{param.rate}}, which is not one of"),
    ]);
  });

  test("its roles are one gang", () => {
    const stages = { "tony.report.instances": "1", "tony.report.depends-on": "worker" };
    expect(said({ ...rate, ...goal, ...stages })).toEqual([
      `job.xml:${line}: tony.search.param.rate belongs to a search, whose trials have no stages: report waits for worker`,
    ]);
  });

  describe("with its parameters in a file", () => {
    const folder = temporaryFolder();
    const inFile = { "tony.search.space": "space.yaml", ...goal };

    test.each([
      ["YAML", "# where to look\n---\nrate: float 1e-5 1e-1 log  # by ratio\n\"units\": 'int 1 3'\n"],
      ["JSON", '{\n  "rate": "float 1e-5 1e-1 log",\n  "units": "int 1 3"\n}\n'],
    ])("reads %s", (_, text) => {
      writeFileSync(path.join(folder.path, "space.yaml"), text);
      const { search } = check(
        { ...minimalJob, ...inFile },
        { workingDirectory: folder.path, lookUp: lookUpLocalPath },
      );
      expect(search?.space).toEqual([
        { name: "rate", domain: { kind: "float", low: 1e-5, high: 0.1, log: true } },
        { name: "units", domain: { kind: "int", low: 1, high: 3, log: false, step: 1 } },
      ]);
    });

    test("tells what is wrong with its line in the file", () => {
      writeFileSync(path.join(folder.path, "space.yaml"), "rate: float 1 0\n- units\nrate: int 1 2\na: int 1 2\n");
      const own = { ...inFile, "tony.search.param.a": "int 1 2" };
      expect(said(own, folder.path)).toEqual([
        `job.xml:${line}: tony.search.space names space.yaml, whose line 1 has rate, which must be float LOW HIGH with the lower number first, not "float 1 0"`,
        `job.xml:${line}: tony.search.space names space.yaml, whose line 2 is not a parameter: write NAME: float 0 1`,
        `job.xml:${line}: tony.search.space names space.yaml, whose line 3 has rate again`,
        `job.xml:${line + 3}: tony.search.param.a is in the file of tony.search.space, too: keep one`,
      ]);
      writeFileSync(path.join(folder.path, "space.yaml"), "{");
      expect(said(inFile, folder.path)).toEqual([
        expect.stringContaining("tony.search.space names space.yaml, whose line 1 is no JSON: Expected property name"),
      ]);
      writeFileSync(path.join(folder.path, "space.yaml"), '{\n"rate": "float 0 1"\n"units": "int 1 2"\n}');
      expect(said(inFile, folder.path)).toEqual([
        expect.stringContaining("space.yaml, whose line 3 is no JSON: Expected ','"),
      ]);
      writeFileSync(path.join(folder.path, "space.yaml"), '{\n"rate": }');
      expect(said(inFile, folder.path)).toEqual([
        expect.stringContaining("space.yaml, which is no JSON: Unexpected token"),
      ]);
      writeFileSync(path.join(folder.path, "space.yaml"), '{\n"rate": 3}');
      expect(said(inFile, folder.path)).toEqual([
        expect.stringContaining('whose line 2 has rate, which must be text: "rate": "float 0 1"'),
      ]);
      writeFileSync(path.join(folder.path, "space.yaml"), '{\n"rate": ["adam", "sgd"]}');
      expect(said(inFile, folder.path)).toEqual([
        expect.stringContaining('whose line 2 has rate, which must be text: "rate": "choice adam sgd"'),
      ]);
      rmSync(path.join(folder.path, "space.yaml"));
      expect(said(inFile, folder.path)).toEqual([
        `job.xml:${line}: tony.search.space names space.yaml, which is not a file on this machine`,
      ]);
    });
  });
});
