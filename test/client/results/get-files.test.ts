import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import type { GetJson } from "../../../client/printed-json.ts";
import { type GetOptions, getFiles } from "../../../client/results/get-files.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { JobStatus, TaskStatus, Transfer } from "../../../src/job/status.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, role } from "../job-status.ts";
import { aPlace, onThisMachine } from "../place.ts";
import { recordedContext } from "../support.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "tony-get-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const application = "application_1795305600000_0009";
const outcome = { ...allSucceeded, endedAtMs: noonishMs };

/** Writes files below a folder of the "cluster", which is this machine. */
function stored(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(home, folder, name)), { recursive: true });
    writeFileSync(path.join(home, folder, name), text);
  }
  return path.join(home, folder);
}

function results(folder: string, changes: Partial<Transfer> = {}): Transfer {
  const told = { what: "output", state: "done", files: 1, bytes: 5, step: 0, atMs: noonishMs, reason: "" } as const;
  return { ...told, url: `file://${path.join(home, folder)}`, ...changes };
}

function task(name: string, transfers: readonly Transfer[]): TaskStatus {
  return { task: name, state: "succeeded", restarts: 0, transfers };
}

function ended(changes: Partial<JobStatus>): Applications {
  const report = aReport({ id: application, state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: noonishMs });
  const status = aJobStatus({ outcome, ...changes });
  return aPlace({ report: async () => report, finalStatus: async () => status });
}

async function get(applications: Applications, changes: Partial<GetOptions> = {}, terminal = false) {
  const environment = { HADOOP_HOME: "/nowhere" };
  const context = recordedContext({ workingDirectory: path.join(home), environment, terminal });
  const none = { task: undefined, to: undefined, force: false, dryRun: false, conf: undefined, json: false };
  const exitCode = await getFiles({ application, what: "results", ...none, ...changes }, applications, context);
  return { out: context.out.text, err: context.err.text, exitCode };
}

const here = (...parts: readonly string[]) => path.join(home, application, ...parts);

describe("what a job left", () => {
  test("is the results of each task in a folder of its own, listed with sizes", async () => {
    stored("out/worker-0", { "model.pt": "12345" });
    stored("out/worker-1", { "deep/log.txt": "1234567" });
    const tasks = [
      task("worker:0", [results("out/worker-0")]),
      task("worker:1", [results("out/worker-1", { bytes: 7 })]),
    ];
    expect(await get(ended({ tasks }))).toEqual({
      exitCode: 0,
      out: `${application}/worker-0/model.pt       5 B
${application}/worker-1/deep/log.txt   7 B
Fetched 2 files, 12 B to ${application}
`,
      err: "",
    });
    expect(readFileSync(here("worker-1/deep/log.txt"), "utf8")).toBe("1234567");
    expect(readdirSync(here("worker-0"))).toEqual(["model.pt"]);
  });

  test("may be a program of its owner's, which can be run here as well", async () => {
    const folder = stored("out/worker-0", { "run.sh": "12345", "notes.txt": "12345" });
    chmodSync(path.join(folder, "run.sh"), 0o750);
    chmodSync(path.join(folder, "notes.txt"), 0o641);
    await get(ended({ tasks: [task("worker:0", [results("out/worker-0")])] }));
    const isProgram = (name: string) => (statSync(here("worker-0", name)).mode & 0o100) !== 0;
    expect([isProgram("run.sh"), isProgram("notes.txt")]).toEqual([true, false]);
  });

  test("is what one trial of a search left, or its checkpoint", async () => {
    stored("out/worker-1", { "model.pt": "12345" });
    const saved = stored("ckpt", { "weights.pt": "123" });
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    const checkpointed = {
      ...task("worker:1", [results("out/worker-1")]),
      trial: { state: "completed", checkpoint: `file://${saved}` },
    } as const;
    const place = ended({ search, tasks: [task("worker:0", []), checkpointed] });
    await get(place, { task: "trial:1" });
    expect(readdirSync(here("trial-1"))).toEqual(["model.pt"]);
    await get(place, { task: "trial:1", what: "checkpoint" });
    expect(readdirSync(here("trial-1/checkpoint"))).toEqual(["weights.pt"]);
    await expect(get(place, { task: "trial:0", what: "checkpoint" })).rejects.toThrow("has no trial:0 that has begun");
    const begun = { ...task("worker:2", []), trial: { state: "completed" } } as const;
    const gone = { ...checkpointed, trial: { ...checkpointed.trial, checkpoint: "file:///gone" }, checkpointStep: 40 };
    const others = ended({ search, tasks: [task("worker:0", []), gone, begun] });
    await expect(get(others, { task: "trial:2", what: "checkpoint" })).rejects.toThrow(
      new Error(`trial:2 of ${application} has no checkpoint`),
    );
    await expect(get(others, { task: "trial:1", what: "checkpoint" })).rejects.toThrow(
      "The checkpoint of step 40 no longer exists: file:///gone\n  Somebody has removed it since",
    );
    await expect(get(place, { what: "checkpoint" })).rejects.toThrow(
      `has no checkpoint\n  Its trials have their own, such as trial 1: tony-ts get ${application} trial:1 --checkpoint`,
    );
  });

  describe("of a search that went on with an earlier one", () => {
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    const earlier = "application_1795305600000_0002";
    const before = (name: string, of = earlier): TaskStatus => {
      return { ...task(name, []), trial: { state: "completed", application: of } };
    };

    test("of a trial that ended in the earlier one is where that is told", async () => {
      const place = ended({ search, tasks: [before("worker:0"), task("worker:1", [])] });
      const told = `trial:0 ended in ${earlier}, which has what it left: tony-ts get ${earlier} trial:0`;
      for (const named of ["trial:0", "worker:0"]) await expect(get(place, { task: named })).rejects.toThrow(told);
      await expect(get(place, { task: "trial:1" })).rejects.toThrow("left no results");
      await expect(get(place, { task: "trial:2" })).rejects.toThrow("has no task trial:2; it has trial:0, trial:1");
    });

    test("is what its own trials left; of the others it is told which application has it", async () => {
      stored("out/worker-3", { "model.pt": "12345" });
      const tasks = [
        ...["worker:0", "worker:1", "worker:2"].map((name) => before(name)),
        task("worker:3", [results("out/worker-3")]),
      ];
      const { out, err } = await get(ended({ search, tasks }));
      expect(out).toContain("Fetched 1 file, 5 B");
      const told = `trial:0 to trial:2 ended in ${earlier}, which has what they left: tony-ts get ${earlier}`;
      expect(err).toBe(`${told}\n`);
      expect((await get(ended({ search, tasks }), { task: "trial:3" })).err).toBe("");
      const none = [...tasks.slice(0, 3), before("worker:3", "local_1_0001"), task("worker:4", [])];
      const refused = get(ended({ search, tasks: none }));
      await expect(refused).rejects.toThrow(
        `left no results\n  ${told}\n  trial:3 ended in local_1_0001, which has what it left: tony-ts get local_1_0001\n`,
      );
    });
  });

  test("of a trial with several tasks is each one's in a folder of its own", async () => {
    for (const folder of ["worker-0", "ps-0"]) stored(`out/${folder}`, { "model.pt": "12345" });
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "", trials: 1 } as const;
    const roles = ["worker", "ps"].map((name) => role(name, 1));
    const tasks = ["worker", "ps"].map((name) => task(`${name}:0`, [results(`out/${name}-0`)]));
    await get(ended({ search, roles, tasks }), { task: "trial:0" });
    expect(readdirSync(here("trial-0"), { recursive: true, encoding: "utf8" }).sort()).toEqual([
      ...["ps-0", "ps-0/model.pt", "worker-0", "worker-0/model.pt"],
    ]);
  });

  test("is one task's results alone, right in the folder that is named", async () => {
    stored("out/worker-0", { "model.pt": "12345" });
    const tasks = [task("worker:0", [results("out/worker-0")]), task("worker:1", [])];
    await get(ended({ tasks }), { task: "worker:0", to: "here" });
    expect(readFileSync(path.join(home, "here/model.pt"), "utf8")).toBe("12345");
    await expect(get(ended({ tasks }), { task: "worker:1" })).rejects.toThrow(`worker:1 of ${application} left no`);
    await expect(get(ended({ tasks }), { task: "ps:0" })).rejects.toThrow(
      "has no task ps:0; it has worker:0, worker:1",
    );
  });

  test("is told of a task that left none", async () => {
    stored("out/worker-0", { "model.pt": "12345" });
    const empty = results("out/worker-1", {
      state: "empty",
      files: 0,
      bytes: 0,
      reason: "no file was left in results",
    });
    const tasks = [task("worker:0", [results("out/worker-0")]), task("worker:1", [empty])];
    const { out, err, exitCode } = await get(ended({ tasks }));
    expect(out).toContain("Fetched 1 file, 5 B");
    expect(err).toBe("worker:1: no file was left in results\n");
    expect(exitCode).toBe(0);
  });

  test("is nothing to fetch where all that it left is empty", async () => {
    const empty = results("out/worker-0", { state: "empty", files: 0, bytes: 0, reason: "no file was left" });
    await expect(get(ended({ tasks: [task("worker:0", [empty])] }))).rejects.toMatchObject({
      code: "NOTHING_LEFT",
      message: `${application} left no files to fetch`,
    });
  });

  test("has its empty folders as well, but nothing of a task whose own folder is empty", async () => {
    stored("out/worker-0", { "model.pt": "12345" });
    for (const folder of ["worker-0/logs/empty", "worker-1"])
      mkdirSync(path.join(home, "out", folder), { recursive: true });
    const none = results("out/worker-1", { files: 0, bytes: 0 });
    const tasks = [task("worker:0", [results("out/worker-0")]), task("worker:1", [none])];
    expect((await get(ended({ tasks }))).out).toContain(`${application}/worker-0/logs/empty   empty folder\n`);
    expect(readdirSync(here("worker-0/logs"))).toEqual(["empty"]);
    expect(readdirSync(here())).toEqual(["worker-0"]);
  });

  test("is missing something where that is so of one task alone", async () => {
    for (const folder of ["worker-0", "worker-1"]) stored(`out/${folder}`, { "model.pt": "12345" });
    const tasks = [
      task("worker:0", [results("out/worker-0", { state: "failed", reason: "no room" })]),
      task("worker:1", [results("out/worker-1")]),
    ];
    expect((await get(ended({ tasks }))).exitCode).toBe(3);
  });

  test("has the names that its program gave, and what was left out is said", async () => {
    const renamed = [{ path: "10:00/a;b", stored: "10%3A00/a%3Bb", sizeBytes: 5 }];
    const leftOut = [
      { path: "secret", why: "it cannot be read (EACCES)", isLoss: true },
      { path: "link", why: "the link leads to nothing", isLoss: false },
    ];
    const names = JSON.stringify({ namesVersion: 1, renamed, leftOut });
    stored("out/worker-0", { "10%3A00/a%3Bb": "12345", "_tony-names.json": names });
    const tasks = [task("worker:0", [results("out/worker-0", { state: "incomplete" })])];
    const { err } = await get(ended({ tasks }));
    expect(err).toBe(
      "worker:0: secret was not stored: it cannot be read (EACCES)\nSome of the results are missing: exit code 3\n",
    );
    expect(readFileSync(here("worker-0/10:00/a;b"), "utf8")).toBe("12345");
    expect(existsSync(here("worker-0/_tony-names.json"))).toBe(false);
  });

  test.each([
    [
      "fewer files than were stored",
      { files: 3, bytes: 99 },
      /^worker:0: 3 files, 99 B were stored in .* 1 file, 5 B now$/m,
    ],
    ["as many files, but other ones", { bytes: 6 }, /^worker:0: 1 file, 6 B were stored in .* 1 file, 5 B now$/m],
    ["as many bytes, in fewer files", { files: 2 }, /^worker:0: 2 files, 5 B were stored in .* 1 file, 5 B now$/m],
    [
      "an earlier run's",
      { state: "failed", reason: "no room" },
      /not stored \(no room\); what is there comes from an earlier/,
    ],
    [
      "what was there before an upload that is not over",
      { state: "under-way" },
      /results were not stored completely; what is there comes from an earlier run$/m,
    ],
  ] as const)("is told of as %s", async (_, changes, words) => {
    stored("out/worker-0", { "model.pt": "12345" });
    const tasks = [task("worker:0", [results("out/worker-0", changes)])];
    const { out, err, exitCode } = await get(ended({ tasks }));
    expect(err).toMatch(words);
    expect(out).toContain("Fetched 1 file");
    expect(exitCode).toBe(3);
  });

  test("overwrites nothing without --force", async () => {
    stored("out/worker-0", { "model.pt": "12345", "a.txt": "" });
    const job = ended({ tasks: [task("worker:0", [results("out/worker-0", { files: 2 })])] });
    stored(`${application}/worker-0`, { "model.pt": "mine" });
    await expect(get(job)).rejects.toMatchObject({
      code: "FILE_EXISTS",
      message: expect.stringMatching(/worker-0\/model\.pt is there already\n.*--to.*--force/),
    });
    expect(readdirSync(here("worker-0"))).toEqual(["model.pt"]);
    expect(readFileSync(here("worker-0/model.pt"), "utf8")).toBe("mine");
    await get(job, { force: true });
    expect(readFileSync(here("worker-0/model.pt"), "utf8")).toBe("12345");
  });

  test.each(["../model.pt", "a/../../model.pt", "/tmp/model.pt"])(
    "is not written outside the folder: %s",
    async (name) => {
      const renamed = [{ path: name, stored: "model.pt", sizeBytes: 5 }];
      stored("out/worker-0", {
        "model.pt": "12345",
        "_tony-names.json": JSON.stringify({ namesVersion: 1, renamed, leftOut: [] }),
      });
      const job = ended({ tasks: [task("worker:0", [results("out/worker-0")])] });
      await expect(get(job, { task: "worker:0", to: "here/deep" })).rejects.toMatchObject({ code: "NAME_REFUSED" });
      expect(existsSync(path.join(home, "here"))).toBe(false);
    },
  );

  test("is shown alone with --dry-run, for programs too", async () => {
    stored("out/worker-0", { "model.pt": "12345" });
    const job = ended({ tasks: [task("worker:0", [results("out/worker-0")])] });
    expect((await get(job, { dryRun: true })).out).toBe(
      `${application}/worker-0/model.pt   5 B\nWould fetch 1 file, 5 B to ${application}\n`,
    );
    const { out } = await get(job, { dryRun: true, json: true });
    expect(JSON.parse(out)).toEqual({
      jsonVersion: 1,
      applicationId: application,
      what: "results",
      dryRun: true,
      folder: here(),
      files: [{ path: "worker-0/model.pt", url: `file://${home}/out/worker-0/model.pt`, sizeBytes: 5 }],
      remarks: [],
    });
    expect(existsSync(here())).toBe(false);
  });

  test("is nothing of a job without results, or whose end nobody kept", async () => {
    await expect(get(ended({}))).rejects.toMatchObject({ code: "NOTHING_LEFT", exitCode: 2 });
    const unknown = { ...ended({}), finalStatus: async () => undefined };
    await expect(get(unknown)).rejects.toThrow("how it ended was not kept");
    await expect(get({ ...unknown, noStatusReason: () => "HDFS is away" })).rejects.toThrow(
      `It is not known where the results of ${application} would be: what became of its tasks cannot be read now: HDFS is away`,
    );
  });
});

describe("files that take long", () => {
  /** Two seconds pass after each file that is opened; the last one may be refused. */
  class Slow extends LocalFileSystem {
    refuses = "";
    override async open(...[file, options]: Parameters<LocalFileSystem["open"]>): Promise<Readable> {
      jest.advanceTimersByTime(2_000);
      if (file.endsWith(this.refuses) && this.refuses !== "")
        throw new FileSystemError(`OPEN ${file}: no`, { code: "ACCESS_DENIED" });
      return await super.open(file, options);
    }
  }
  const slow = new Slow();
  const fileSystems = async () => ({
    locate: (address: string) => ({ ...onThisMachine.locate(address), fileSystem: slow }),
    home: async () => onThisMachine.locate("/"),
  });
  const place = () => {
    stored("out/worker-0", { a: "1", b: "1", c: "1", d: "1", e: "1" });
    return { ...ended({ tasks: [task("worker:0", [results("out/worker-0", { files: 5 })])] }), fileSystems };
  };

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask", "Date", "performance"] });
    slow.refuses = "";
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test("are counted beside the result, until they are there", async () => {
    const { out, err } = await get(place());
    expect(out).toMatch(/^application.*\nFetched 5 files, 5 B to [^\n]*\n$/s);
    expect(err).toBe("fetching: 0 of 5 files, 0 B of 5 B\n");
    expect(jest.getTimerCount()).toBe(0);
  });

  test("are counted where a person looks, which is gone in the end", async () => {
    const { out } = await get(place(), {}, true);
    expect(out).toContain("fetching: 0 of 5 files, 0 B of 5 B\n");
    expect(out).toMatch(/fetching: ([1-4]) of 5 files, \1 B of 5 B\n/);
    expect(out).toMatch(/Fetched 5 files, 5 B to [^\n]*\n$/);
  });

  test("are counted no more when one of them could not be fetched", async () => {
    slow.refuses = "worker-0/e";
    await expect(get(place())).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe("the last checkpoint", () => {
  const checkpoint = (folder: string) => ({ step: 7, atMs: noonishMs, path: `file://${path.join(home, folder)}` });
  const fetched = () => readdirSync(here("checkpoint"), { recursive: true, encoding: "utf8" }).sort();

  test("that an executor uploaded has its own names again, and nothing that is not in its list", async () => {
    const files = [{ path: "a:b/w.pt", stored: "a%3Ab/w.pt", sizeBytes: 5 }];
    const list = { manifestVersion: 1, name: "a:b/w.pt", step: 7, atMs: 1, files };
    stored("ckpt/step-7-at-1", { "a%3Ab/w.pt": "12345", "_complete.json": JSON.stringify(list), other: "" });
    await get(ended({ checkpoint: checkpoint("ckpt/step-7-at-1") }), { what: "checkpoint" });
    expect(fetched()).toEqual(["a:b", "a:b/w.pt"]);
  });

  const whole = (step: number) => {
    const list = { manifestVersion: 1, name: "w.pt", step, atMs: 1, files: [{ path: "w.pt", sizeBytes: 5 }] };
    stored(`ckpt/${application}/worker-0/step-${step}-at-1`, {
      "w.pt": "12345",
      "_complete.json": JSON.stringify(list),
    });
  };

  test("that is damaged gives way to the one before it, which is said", async () => {
    whole(6);
    whole(7);
    rmSync(path.join(home, `ckpt/${application}/worker-0/step-7-at-1/w.pt`));
    const job = ended({ checkpoint: checkpoint(`ckpt/${application}/worker-0/step-7-at-1`) });
    const { err } = await get(job, { what: "checkpoint" });
    expect(err).toMatch(
      /step-7-at-1 is damaged \(.*w\.pt is not there\); an earlier one of its task is taken: .*step-6-at-1/,
    );
    expect(fetched()).toEqual(["w.pt"]);
  });

  test("of a job whose last state nobody wrote is the latest whole one in its folder", async () => {
    whole(7);
    const nothing = { ...ended({}), finalStatus: async () => undefined };
    await expect(get(nothing, { what: "checkpoint" })).rejects.toThrow("how it ended was not kept here");
    const known = { ...nothing, checkpointDir: async () => `file://${home}/ckpt/` };
    const running = { ...known, report: async () => aReport({ id: application, state: "RUNNING" }) };
    await expect(get(running, { what: "checkpoint" })).rejects.toMatchObject({ code: "NOTHING_LEFT" });
    const ofBob = { ...known, report: async () => aReport({ id: application, user: "bob", state: "FINISHED" }) };
    await expect(get(ofBob, { what: "checkpoint" })).rejects.toThrow("only bob can see what became of its tasks");
    await expect(get(known, { what: "results" })).rejects.toThrow("It is not known where the results of");
    const { err } = await get(known, { what: "checkpoint" });
    expect(err).toMatch(/ended was not kept; its latest complete checkpoint is of step 7: /);
    expect(fetched()).toEqual(["w.pt"]);
  });

  test("is the one that the job's last state names, also where a later one lies in its folder", async () => {
    whole(7);
    const own = stored("own", { "mine.pt": "1" });
    const job = ended({ checkpoint: { step: 6, atMs: noonishMs, path: `file://${own}` } });
    await get({ ...job, checkpointDir: async () => `file://${home}/ckpt/` }, { what: "checkpoint" });
    expect(fetched()).toEqual(["mine.pt"]);
  });

  test("whose file is shorter than was saved is refused, and leaves nothing", async () => {
    const files = [{ path: "w.pt", sizeBytes: 6 }];
    const list = { manifestVersion: 1, name: "w.pt", step: 7, atMs: 1, files };
    stored("ckpt/step-7-at-1", { "w.pt": "12345", "_complete.json": JSON.stringify(list) });
    const job = ended({ checkpoint: checkpoint("ckpt/step-7-at-1") });
    await expect(get(job, { what: "checkpoint" })).rejects.toThrow(/w\.pt has 5 bytes, 6 were stored/);
    expect(fetched()).toEqual([]);
  });

  test.each([
    ["a file", "own/7.pt", ["7.pt"]],
    ["all of a folder", "own", ["7.pt", "model-7.data", "model-7.index"]],
    ["the files that its name begins", "own/model-7", ["model-7.data", "model-7.index"]],
  ])("that the program wrote itself is %s", async (_, name, names) => {
    stored("own", { "7.pt": "1", "model-7.index": "2", "model-7.data": "3" });
    if (name !== "own") stored("own", { "model-70.index": "4" });
    await get(ended({ checkpoint: checkpoint(name) }), { what: "checkpoint" });
    expect(fetched()).toEqual(names);
  });

  test("that is gone, or never was, is said", async () => {
    const gone = get(ended({ checkpoint: checkpoint("ckpt/gone") }), { what: "checkpoint" });
    await expect(gone).rejects.toThrow(/step 7 no longer exists: file:/);
    await expect(get(ended({}), { what: "checkpoint" })).rejects.toThrow(`${application} has no checkpoint`);
  });
});

describe("a job's history", () => {
  test("is found where its day's jobs are, or among those that run", async () => {
    const conf = [`tony.history.location=${home}/history`];
    stored(`history/intermediate/${application}`, { "events.jsonl.inprogress": "{}" });
    const { out } = await get(ended({}), { what: "history", conf });
    expect(out).toContain(`${application}/history/events.jsonl.inprogress   2 B`);
    const day = new Date(noonishMs).toISOString().slice(0, 10).replaceAll("-", "/");
    stored(`history/finished/${day}/${application}`, { "config.xml": "<c/>" });
    await get(ended({}), { what: "history", conf: [...conf, "tony.history.finished-dir-timezone=UTC"] });
    expect(readdirSync(here("history")).sort()).toEqual(["config.xml", "events.jsonl.inprogress"]);
  });

  const dayMs = 86_400_000;
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10).replaceAll("-", "/");
  const foundIn = async (job: Applications, changes: Partial<GetOptions> = {}) => {
    const conf = [`tony.history.location=${home}/history`, "tony.history.finished-dir-timezone=UTC"];
    const { out } = await get(job, { what: "history", conf, dryRun: true, json: true, ...changes });
    const { files }: GetJson = JSON.parse(out);
    return files.map(({ url }) => url);
  };

  test("is that of the day that the job's last state names; without one, of the day that YARN names", async () => {
    for (const ms of [noonishMs, noonishMs + dayMs])
      stored(`history/finished/${dayOf(ms)}/${application}`, { "config.xml": "<c/>" });
    stored(`history/intermediate/${application}`, { "events.jsonl.inprogress": "{}" });
    const finished = (ms: number) => [`file://${home}/history/finished/${dayOf(ms)}/${application}/config.xml`];
    const late = aReport({ id: application, state: "FINISHED", finishTimeMs: noonishMs + dayMs });
    const known = { ...ended({}), report: async () => late };
    expect(await foundIn(known)).toEqual(finished(noonishMs));
    const unknown = { ...known, finalStatus: async () => undefined };
    expect(await foundIn(unknown)).toEqual(finished(noonishMs + dayMs));
    const location = `tony.history.location=${home}/history`;
    const eastward = { conf: [location, "tony.history.finished-dir-timezone=Pacific/Kiritimati"] };
    stored(`history/finished/${dayOf(noonishMs + 14 * 3_600_000)}/${application}`, { "config.xml": "<c/>" });
    expect(await foundIn(known, eastward)).toEqual(finished(noonishMs + 14 * 3_600_000));
    const running = { ...unknown, report: async () => ({ ...late, state: "RUNNING" as const }) };
    expect(await foundIn(running)).toEqual([
      `file://${home}/history/intermediate/${application}/events.jsonl.inprogress`,
    ]);
  });

  test("lies in the user's home where its place is no path", async () => {
    stored(`history/intermediate/${application}`, { "config.xml": "<c/>" });
    const inHome = { ...onThisMachine.locate("/"), path: home };
    const fileSystems = async () => ({ locate: onThisMachine.locate.bind(onThisMachine), home: async () => inHome });
    expect(await foundIn({ ...ended({}), fileSystems }, { conf: ["tony.history.location=history"] })).toEqual([
      `file://${home}/history/intermediate/${application}/config.xml`,
    ]);
  });

  test("of a job of this machine is in the job's own folder", async () => {
    const folder = stored("own", { "config.xml": "<c/>" });
    const job = { ...ended({}), keptHistory: () => ({ folder }) };
    const { out, exitCode } = await get(job, { what: "history" });
    expect([exitCode, out]).toEqual([0, expect.stringContaining(`${application}/history/config.xml   4 B\n`)]);
    const gone = { ...job, keptHistory: () => ({ folder: path.join(home, "gone") }) };
    await expect(get(gone, { what: "history" })).rejects.toThrow(`${application} left no history`);
  });

  test("needs to be kept", async () => {
    await expect(get(ended({}), { what: "history" })).rejects.toMatchObject({
      code: "NO_HISTORY",
      message: expect.stringContaining("tony.history.location is not set"),
    });
    const conf = [`tony.history.location=${home}/history`];
    await expect(get(ended({}), { what: "history", conf })).rejects.toMatchObject({ code: "NOTHING_LEFT" });
  });
});
