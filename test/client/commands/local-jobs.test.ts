import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { JobStatus } from "../../../src/job/status.ts";
import { recordedStreams } from "../support.ts";
import { containerOf, LocalMachine } from "./local-machine.ts";

let machine: LocalMachine;
beforeEach(() => {
  machine = new LocalMachine();
});
afterEach(() => machine.dispose());

const GIB = 1024 ** 3;

const firstWords = (text: string) => text.split("\n").map((line) => line.split(/ {2,}/).slice(0, 3).join(" "));

describe("tony-ts list", () => {
  test("shows jobs that run, and with --all those that have ended too, the newest first; what was not asked is said", async () => {
    const older = machine.ended(3_600, "succeeded");
    const newer = machine.ended(1_800, "failed");
    const { id } = await machine.running();
    const { exitCode, out, err } = await machine.run("list");
    expect(firstWords(out)).toEqual(["application state name", `${id} RUNNING bert`, ""]);
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: expect.stringMatching(/^Jobs of this machine only\. HADOOP_CONF_DIR/),
    });
    expect(firstWords((await machine.run("list", "--all")).out)).toEqual([
      "application state name",
      `${id} RUNNING bert`,
      `${newer} FAILED bert`,
      `${older} SUCCEEDED bert`,
      "",
    ]);
    expect((await machine.run("list", "--scheduler", "local")).err).toBe("");
  });

  test("says how many more there are than --limit, and prints as many", async () => {
    const older = machine.ended(3_600, "succeeded");
    const newer = machine.ended(1_800, "failed");
    expect((await machine.run("list", "--all", "--limit", "1")).out).toMatch(
      /\n1 older job not shown: --limit 2 shows all\n$/,
    );
    expect(await machine.json("list", "--all", "--limit", "1")).toMatchObject({
      jobs: [{ id: newer }],
      more: 1,
      places: ["local"],
    });
    expect(await machine.json("list", "--all", "--limit", "2")).toMatchObject({
      jobs: [{ id: newer }, { id: older }],
      more: 0,
    });
  });

  test.each([
    [["--since", "2000s"], ["1800"]],
    [["--until", "2000s"], ["3600"]],
    [["--since", "4000s", "--until", "2000s"], ["3600"]],
    [["--state", "failed"], ["1800"]],
    [
      ["--all", "--name", "BER"],
      ["1800", "3600"],
    ],
    [["--all", "--name", "bart"], []],
    [
      ["--all", "--name", "ber"],
      ["1800", "3600"],
    ],
    [[], []],
  ])("%j chooses among those that have ended", async (words, chosen) => {
    const ids: Readonly<Record<string, string>> = {
      3600: machine.ended(3_600, "succeeded"),
      1800: machine.ended(1_800, "failed"),
    };
    const jobs = chosen.map((name) => expect.objectContaining({ id: ids[name] }));
    expect(await machine.json("list", ...words)).toMatchObject({ jobs });
  });

  test("that is empty says what would show more, unless all were asked for", async () => {
    machine.ended(3_600, "succeeded");
    expect((await machine.run("list")).out).toBe("No jobs (tony-ts list --all shows those that have ended)\n");
    expect((await machine.run("list", "--all", "--name", "none")).out).toBe("No jobs\n");
    expect((await machine.run("list", "--state", "killed")).out).toBe("No jobs\n");
  });

  test("removes jobs of this machine that ended more than seven days ago, and keeps the others", async () => {
    machine.ended(8 * 24 * 3_600, "succeeded");
    const kept = machine.ended(6 * 24 * 3_600, "succeeded");
    await machine.run("list");
    expect(await machine.json("list", "--all")).toMatchObject({ jobs: [{ id: kept }], more: 0 });
  });

  test.each([
    [["--all-users", "--user", "bob"], "--all-users and --user: leave one of them out"],
    [["--limit", "0"], "--limit takes a whole number above 0"],
    [["--limit", "1.5"], "--limit takes a whole number above 0"],
    [
      ["--since", "yesterday"],
      '--since takes a duration such as 10m or a time such as 2026-11-22T14:00, not "yesterday"',
    ],
    [["--until", "now"], '--until takes a duration such as 10m or a time such as 2026-11-22T14:00, not "now"'],
  ])("%j is refused", async (words, message) => {
    expect(await machine.run("list", ...words)).toEqual({ exitCode: 2, out: "", err: `${message}\n` });
  });
});

describe("tony-ts status", () => {
  test("exits with 0 however the job ended, and shows its report", async () => {
    const id = machine.ended(60, "failed");
    const { exitCode, out } = await machine.run("status", id);
    expect(exitCode).toBe(0);
    expect(out).toMatch(new RegExp(`^FAILED  ${id}  bert · 5 s`));
    expect(await machine.json("status", id)).toMatchObject({
      statusFrom: "am",
      status: { outcome: { result: "failed" } },
    });
  });

  test("asks the ApplicationMaster of a job that runs", async () => {
    const { id } = await machine.running({ waits: [], generation: 3 });
    expect((await machine.run("status", id)).out).toContain(`${id}  bert · RUNNING`);
    expect(await machine.json("status", id)).toMatchObject({
      statusFrom: "am",
      status: { generation: 3, state: "running" },
    });
  });
});

describe("tony-ts attach and wait", () => {
  test("tell of several jobs by --stdin, and each event says of which", async () => {
    const [good, bad] = [machine.ended(60, "succeeded"), machine.ended(120, "failed")];
    machine.streams = recordedStreams({ typed: `${good}\n${bad}\n` });
    const { exitCode, out } = await machine.run("wait", "--stdin", "--json");
    const events = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(exitCode).toBe(1);
    expect(new Set(events.map(({ applicationId }) => applicationId))).toEqual(new Set([good, bad]));
    expect(
      events
        .filter(({ event }) => event === "end")
        .map(({ applicationId }) => applicationId)
        .sort(),
    ).toEqual([good, bad].sort());
  });

  test("by --stdin a job that cannot be asked is told once, and the others are waited for", async () => {
    const good = machine.ended(60, "succeeded");
    machine.streams = recordedStreams({ typed: `application_1_0001\n${good}\n` });
    const { exitCode, out, err } = await machine.run("wait", "--stdin");
    expect([exitCode, out]).toEqual([3, expect.stringContaining(`${good} SUCCEEDED`)]);
    expect(err).toMatch(/^tony-ts: application_1_0001: HADOOP_CONF_DIR is not set/);
    expect(err.match(/HADOOP_CONF_DIR is not set/g)).toHaveLength(1);
  });

  test.each([
    ["succeeded", 0],
    ["failed", 1],
    ["killed", 4],
  ] as const)("exit as the job that %s: %d", async (result, exitCode) => {
    const id = machine.ended(60, result);
    expect((await machine.run("attach", id)).exitCode).toBe(exitCode);
    expect((await machine.run("wait", id)).exitCode).toBe(exitCode);
    for (const verb of ["attach", "wait"])
      expect(await machine.json(verb, id)).toMatchObject([
        { event: "job", submitted: false },
        { event: "status" },
        { event: "end", exitCode },
      ]);
  });

  test("attach shows the whole report of a job that has ended, wait one line", async () => {
    const id = machine.ended(60, "failed");
    expect(await machine.run("attach", id)).toEqual({ ...(await machine.run("status", id)), exitCode: 1 });
    expect((await machine.run("wait", id)).out).toBe(`${id} FAILED: enough\n  tony-ts status ${id} says more\n`);
  });

  test("follow a job that runs to its end", async () => {
    const job = await machine.running({}, { logs: { "worker:0 stdout": "epoch 1\n" } });
    const attached = machine.run("attach", job.id);
    const waited = machine.run("wait", job.id);
    await job.met("follower", 2);
    await job.end("succeeded");
    expect(await attached).toMatchObject({ exitCode: 0, out: expect.stringContaining("SUCCEEDED") });
    expect(await attached).toMatchObject({ err: expect.stringContaining(`To end the job: tony-ts kill ${job.id}`) });
    expect(await waited).toEqual({ exitCode: 0, out: expect.stringMatching(/^local_\S+ SUCCEEDED: .*\n$/), err: "" });
  });

  test("attach shows the output of the tasks that --logs names", async () => {
    const job = await machine.running({}, { logs: { "worker:0 stdout": "epoch 1\n", "worker:1 stdout": "other\n" } });
    const attached = machine.run("attach", job.id, "--logs", "worker:1");
    await job.met("follower", 1);
    await job.end("succeeded");
    const { out } = await attached;
    expect(out).toContain("other\n");
    expect(out).not.toContain("epoch 1");
  });

  test("attach shows a search as its own command does: its best trial, and at its end what runs that one alone", async () => {
    const search = { metric: "loss", direction: "minimize", parameters: ["x"], command: "t {{param.x}}" } as const;
    const trial = { task: "worker:0", state: "succeeded", restarts: 0, params: { x: "0.5" } } as const;
    const tasks = [{ ...trial, metrics: { loss: 1 }, trial: { state: "completed" } }] as const;
    const job = await machine.running({ search, tasks }, { logs: { "worker:0 stdout": "epoch 1\n" } });
    const attached = machine.run("attach", job.id);
    await job.met("follower", 1);
    await job.end("succeeded");
    const { out } = await attached;
    expect(out).toContain("best so far: loss 1 of trial 0 (x=0.5)");
    expect(out).toContain("trial 0 alone: tony-ts search job.xml --scheduler local");
    expect(out).not.toContain("epoch 1");
  });

  test("attach --own says that Ctrl-C ends the job", async () => {
    const job = await machine.running();
    const attached = machine.run("attach", "--own", job.id);
    await job.met("follower", 1);
    await job.end("killed");
    expect(await attached).toMatchObject({ exitCode: 4, err: expect.stringContaining("Ctrl-C ends the job.") });
  });

  test.each([
    [["wait"], "Which job? Give its id (tony-ts list)"],
    [["wait", "--stdin", "local_1_0001"], "Give an id, or --stdin, not both"],
    [
      ["attach", "bert"],
      '"bert" is not an application\'s id; they look like application_1795305600000_0001 or local_1795305600000_0001',
    ],
  ])("%j is refused", async (words, message) => {
    expect(await machine.run(...words)).toEqual({ exitCode: 2, out: "", err: `${message}\n` });
  });
});

describe("tony-ts kill", () => {
  test("has the ApplicationMaster end a job, for the reason that is given, and says what had ended already", async () => {
    const job = await machine.running();
    const ended = machine.ended(3_600, "succeeded");
    const { exitCode, out, err } = await machine.run("kill", job.id, ended, job.id, "--reason", "too slow");
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(out.split("\n")).toEqual([
      `${job.id} KILLED; its processes have ended; its logs are kept for 7 days: tony-ts logs ${job.id}`,
      `${ended} had ended already: SUCCEEDED`,
      "",
    ]);
    expect(job.stops).toEqual([expect.stringMatching(/^killed by \S+ from \S+: too slow$/)]);
  });

  test("names itself where no reason is given", async () => {
    const job = await machine.running();
    expect(await machine.json("kill", job.id)).toMatchObject({
      jobs: [{ applicationId: job.id, state: "KILLED", finalStatus: "KILLED" }],
    });
    expect(job.stops).toEqual([expect.stringMatching(/ \(tony-ts kill\)$/)]);
  });

  test("ends the others where there is no such job, says which, and exits as that one", async () => {
    const ended = machine.ended(3_600, "failed");
    const { exitCode, out, err } = await machine.run("kill", "local_1_0001", ended);
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: `${ended} had ended already: FAILED\n` });
    expect(err).toMatch(/^tony-ts: local_1_0001: There is no local_1_0001 in /);
    expect(await machine.json("kill", ended, "local_1_0001")).toMatchObject({
      jobs: [
        { applicationId: ended, finalStatus: "FAILED" },
        { applicationId: "local_1_0001", error: { code: "APPLICATION_NOT_FOUND", retryable: false } },
      ],
    });
  });

  test("asks nobody where one of the ids is none", async () => {
    const job = await machine.running();
    expect(await machine.run("kill", job.id, "bert")).toMatchObject({ exitCode: 2, out: "" });
    expect(job.stops).toEqual([]);
  });
});

test("tony-ts kill, too, removes jobs of this machine that ended more than seven days ago", async () => {
  const old = machine.ended(8 * 24 * 3_600, "succeeded");
  const ended = machine.ended(60, "succeeded");
  expect((await machine.run("status", old)).exitCode).toBe(0);
  await machine.run("kill", ended);
  expect((await machine.run("status", old)).exitCode).toBe(3);
});

describe("tony-ts logs of a job that has ended", () => {
  const said = (event: object) => `${JSON.stringify({ level: "info", ...event })}\n`;
  const submittedMs = 1_795_305_600_000 - 600_000;
  let id = "";
  beforeEach(() => {
    const worker = (number: number) => ({
      stdout: `start ${number}\nloss nan\ndone\n`,
      stderr: "warning\n",
      "executor.log": said({ message: `executor ${number}` }),
      "output.index": `${submittedMs + 1_000} 1 8 0\n${submittedMs + 2_000} 2 8 8\n${submittedMs + 300_000} 2 22 8\n`,
    });
    const started = (task: string, number: number) => ({
      task,
      container: containerOf(`local_${submittedMs}_0001`, number),
      event: "task-started",
    });
    const am = said({ generation: 2 }) + said(started("worker:0", 2)) + said(started("worker:1", 3));
    id = machine.ended(600, "failed", { generation: 2 }, { 1: { "am.log": am }, 2: worker(0), 3: worker(1) });
  });

  const shown = async (...words: string[]) => (await machine.run("logs", id, ...words)).out.split("\n").slice(0, -1);
  const [w0, w1] = [(text: string) => `worker:0 | ${text}`, (text: string) => `worker:1 | ${text}`];

  test("are the lead's lines, in the order in which they were written", async () => {
    const { exitCode, out, err } = await machine.run("logs", id);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: "start 0\nwarning\nloss nan\ndone\n" });
    expect(err).toMatch(/^── generation 2, \d\d:\d\d:00 ──\n$/);
  });

  test.each([
    [["worker:1"], ["start 1", "warning", "loss nan", "done"]],
    [["--tail", "1"], ["done"]],
    [
      ["--generation", "2"],
      ["loss nan", "done"],
    ],
    [
      ["--since", "400s"],
      ["loss nan", "done"],
    ],
    [["--stream", "stderr"], ["warning"]],
    [
      ["--stream", "stdout", "--tail", "2"],
      ["loss nan", "done"],
    ],
    [
      ["worker:0", "--grep", "nan|warn"],
      ["warning", "loss nan"],
    ],
    [
      ["--grep", "nan"],
      [w0("loss nan"), w1("loss nan")],
    ],
    [
      ["--logs", "all", "--tail", "1"],
      [w0("done"), w1("done")],
    ],
    [
      ["--logs", "worker:0,worker:1", "--tail", "1"],
      [w0("done"), w1("done")],
    ],
  ])("%j: %j", async (words, lines) => {
    const { exitCode, out } = await machine.run("logs", id, ...words);
    expect({ exitCode, lines: out.split("\n").slice(0, -1) }).toEqual({ exitCode: 0, lines });
  });

  test("of its ApplicationMaster and of an executor are shown as sentences, or as they are", async () => {
    expect((await shown("worker:1", "--executor")).join()).toContain("executor 1");
    expect(await shown("am")).toHaveLength(3);
  });

  test("with --split what went to stderr goes there", async () => {
    expect(await machine.run("logs", id, "--split")).toEqual({
      exitCode: 0,
      out: "start 0\nloss nan\ndone\n",
      err: expect.stringMatching(/^warning\n── generation 2/),
    });
  });

  test("with --json each line is an event, and the last one says how the job ended", async () => {
    expect(await machine.json("logs", id, "--tail", "1")).toMatchObject([
      { event: "output", task: "worker:0", stream: "stdout", line: "done" },
      { event: "end", outcome: { result: "failed" }, exitCode: 1 },
    ]);
  });

  test("with --follow are those that are there, as there is nothing to wait for", async () => {
    expect(await shown("--follow", "--tail", "1")).toEqual(["done"]);
  });

  test.each([
    [["worker:0", "--logs", "all"], "Give a task or --logs, not both"],
    [["am", "--executor"], "The AM has no executor: leave out --executor"],
    [["am", "--stream", "stdout"], "--stream applies only to what programs write: leave it out"],
    [["--executor", "--stream", "stdout"], "--stream applies only to what programs write: leave it out"],
    [["--split", "--json"], "With --json each line names its stream: leave out --split"],
    [["--follow", "--generation", "1"], "--generation looks back: leave out --follow"],
    [["--tail", "0"], "--tail takes a whole number above 0"],
    [["--generation", "1.5"], "--generation takes a whole number above 0"],
    [["--grep", "("], expect.stringContaining("--grep takes a regular expression: ")],
  ])("%j is refused", async (words, message) => {
    const { exitCode, err } = await machine.run("logs", id, ...words);
    expect(exitCode).toBe(2);
    expect(err.trimEnd()).toEqual(message);
  });
});

describe("tony-ts logs of a job that runs", () => {
  const logs = {
    "worker:0 stdout": "epoch 1\nepoch 2\n",
    "worker:1 stdout": "other\n",
    "worker:0 executor": '{"level":"info","message":"ready"}\n',
  };

  test("are read from its ApplicationMaster, up to now; the last event has no outcome", async () => {
    const { id } = await machine.running({}, { logs });
    expect(await machine.run("logs", id)).toEqual({ exitCode: 0, out: "epoch 1\nepoch 2\n", err: "" });
    expect((await machine.run("logs", id, "--executor", "worker:0")).out).toContain("ready");
    expect(await machine.json("logs", id, "--tail", "1")).toMatchObject([
      { event: "output", line: "epoch 2" },
      { event: "end", outcome: null, exitCode: 5 },
    ]);
  });

  test("with --follow go on to the end of the job, which is told beside them", async () => {
    const job = await machine.running({}, { logs });
    const followed = machine.run("logs", job.id, "-f");
    await job.met("follower", 1);
    await job.end("failed");
    const { exitCode, out, err } = await followed;
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: "epoch 1\nepoch 2\n" });
    expect(err).toContain(`${job.id} FAILED: enough`);
  });
});

describe("what is asked of a job that runs", () => {
  test("is refused where it has ended, with the cluster's exit code", async () => {
    const id = machine.ended(60, "succeeded");
    const message = `${id} has ended (SUCCEEDED): this needs a running job\n`;
    for (const words of [
      ["kv", id, "list"],
      ["stacks", id],
      ["exec", id, "worker:0", "--", "true"],
    ])
      expect(await machine.run(...words)).toEqual({ exitCode: 3, out: "", err: message });
    const own = "a TensorBoard of your own shows what it has left: python3 -m tensorboard.main --logdir FOLDER";
    expect(await machine.run("tensorboard", id)).toEqual({
      exitCode: 3,
      out: "",
      err: `${message.trimEnd()}, and so has its TensorBoard; ${own}\n`,
    });
  });

  test("page: is shown on this machine until the job ends, and is at no proxy", async () => {
    const job = await machine.running();
    expect((await machine.run("page", job.id, "--address")).err).toContain("A local job has no page at a proxy");
    expect((await machine.run("page", job.id, "--address", "--local-port", "1")).exitCode).toBe(2);
    const shown = machine.run("page", job.id);
    await job.met("follower", 1);
    await job.end("succeeded");
    const { exitCode, out, err } = await shown;
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: expect.stringMatching(
        /^http:\/\/127\.0\.0\.1:\d+\/#\S+ shows local_\S+ until the job ends; Ctrl-C closes the page, and the job goes on/,
      ),
    });
    expect(err).toContain(`${job.id} has ended (succeeded)`);
  });

  test("kv: the store of the job is read and written", async () => {
    const asked: unknown[] = [];
    const { id } = await machine.running(
      {},
      {
        clients: {
          transact: async ({ transaction, owner }) => {
            asked.push({ transaction, owner });
            return {
              revision: 8,
              succeeded: true,
              results: transaction.success.map(() => ({ type: "put" as const, revision: 8 })),
            };
          },
        },
      },
    );
    expect(await machine.run("kv", id, "put", "a", "1", "--owner", "worker:0")).toMatchObject({ exitCode: 0, err: "" });
    expect(asked).toMatchObject([{ owner: "worker:0", transaction: { success: [{ type: "put", key: "a" }] } }]);
  });

  test("stacks: each task says where it stands, or why it does not", async () => {
    const { id } = await machine.running();
    expect((await machine.run("stacks", id)).out).toContain("worker:0  there are none");
    expect(await machine.json("stacks", id)).toMatchObject({ tasks: [{ task: "worker:0" }, {}, {}], groups: [] });
    expect(await machine.run("stacks", id, "worker:1")).toMatchObject({
      exitCode: 5,
      out: "",
      err: "there are none\n",
    });
  });

  test.each([
    [["worker:9", "8080"], "has no task worker:9; there are worker:0 to worker:1, ps:0"],
    [["ps:1", "8080"], "has no task ps:1; there are worker:0 to worker:1, ps:0"],
    [["worker", "8080"], "has no task worker; there are"],
    [["worker:0", "0"], "The task's port is a number from 1 to 65535, not 0"],
    [["worker:0", "8080", "--local-port", "x"], "--local-port is a number from 1 to 65535, not x"],
  ])("forward %j is refused", async (words, message) => {
    const { id } = await machine.running();
    const { exitCode, out, err } = await machine.run("forward", id, ...words);
    expect({ exitCode, out }).toEqual({ exitCode: 2, out: "" });
    expect(err).toContain(message);
  });

  test("forward and tensorboard listen until the job ends, where it says that they lead", async () => {
    const job = await machine.running({
      services: [{ name: "tensorboard", task: "worker:1", url: "http://127.0.0.12:6006" }],
    });
    const forwarded = machine.json("forward", job.id, "worker:0", "8080");
    const shown = machine.run("tensorboard", job.id);
    await job.met("session", 2);
    await job.end("succeeded");
    expect(await forwarded).toEqual({
      jsonVersion: 1,
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      task: "worker:0",
      port: 8080,
    });
    const { exitCode, out, err } = await shown;
    expect({ exitCode, err }).toEqual({
      exitCode: 0,
      err: `${job.id} has ended (succeeded): nothing is forwarded any more\n`,
    });
    expect(out).toMatch(/^http:\/\/127\.0\.0\.1:\d+ is forwarded to port 6006 of worker:1; Ctrl-C ends it\n$/);
  });

  test("tensorboard: a job without one says how it gets one", async () => {
    const { id } = await machine.running();
    const { exitCode, err } = await machine.run("tensorboard", id);
    expect(exitCode).toBe(2);
    expect(err).toContain(
      "has no TensorBoard: nothing listens on the port that it has for one; set tony.application.tensorboard-log-dir",
    );
  });
});

describe("what a job left", () => {
  const search = {
    metric: "accuracy",
    direction: "maximize",
    parameters: ["lr"],
    command: "",
    algorithm: "grid",
  } as const;
  const trial = (number: number, value: number, state = "completed"): JobStatus["tasks"][number] =>
    ({
      task: `worker:${number}`,
      state: "succeeded",
      restarts: 0,
      trial: { state, params: { lr: number / 10 }, value },
    }) as JobStatus["tasks"][number];

  test("trials: the best first, so many as are asked for; the best one's command", async () => {
    const tasks = [trial(0, 0.5), trial(1, 0.9), trial(2, 0.7)];
    const id = machine.ended(60, "succeeded", { search, tasks });
    const { exitCode, out } = await machine.run("trials", id, "--top", "2");
    expect(exitCode).toBe(0);
    expect(firstWords(out).slice(0, 5)).toEqual([
      "3 completed",
      "trial state accuracy",
      "1 completed 0.9",
      "2 completed 0.7",
      "and 1 more",
    ]);
    expect((await machine.run("trials", id, "--csv", "--top", "1")).out.split("\n")).toEqual([
      "number,task,state,accuracy,step,lr,checkpoint,why,startedAtMs,endedAtMs",
      expect.stringMatching(/^1,worker:1,completed,0\.9,/),
      "",
    ]);
    expect(await machine.json("trials", id, "--top", "1")).toMatchObject({
      applicationId: id,
      trials: [{ number: 1 }],
      best: { number: 1 },
    });
  });

  test("trials: in JSON their parameters are numbers where programs are given numbers", async () => {
    const space = ["float 0 1", "int 1 8", "choice 16 32", "choice 1 sgd when size=16"];
    const parameters = ["lr", "depth", "size", "opt"];
    const params = { lr: "1e-7", depth: "3", size: "16", opt: "1" };
    const tasks = [{ ...trial(0, 0.5), params, trial: { state: "completed" } }] as const;
    const jsonOf = async (space?: readonly string[]) => {
      const told = { ...search, parameters, ...(space && { space }) };
      return await machine.json("trials", machine.ended(60, "succeeded", { search: told, tasks }));
    };
    expect(await jsonOf(space)).toMatchObject({ trials: [{ params: { lr: 1e-7, depth: 3, size: 16, opt: "1" } }] });
    // Of an earlier release, which told of no space.
    expect(await jsonOf()).toMatchObject({ trials: [{ params }] });
  });

  test("status: of a search nothing is said of restarts and generations of the job, which trials do not have", async () => {
    const { out } = await machine.run("status", machine.ended(60, "succeeded", { search, tasks: [trial(0, 0.5)] }));
    expect(out).toContain("trials: 1 completed");
    expect(out).not.toContain("restarts:");
    expect((await machine.run("status", machine.ended(60, "succeeded"))).out).toContain("restarts:");
  });

  test("trials: of a search that has begun none, and of a job that is none", async () => {
    const id = machine.ended(60, "killed", { search, tasks: [] });
    expect((await machine.run("trials", id)).out).toMatch(/^No trial has begun\.\n/);
    expect(await machine.json("trials", id)).not.toHaveProperty("best");
    const none = machine.ended(120, "killed");
    expect(await machine.run("trials", none)).toEqual({ exitCode: 2, out: "", err: `${none} is not a search\n` });
    expect((await machine.run("trials", id, "--csv", "--json")).exitCode).toBe(2);
    expect((await machine.run("trials", id, "--top", "0")).exitCode).toBe(2);
  });

  test("get: one thing at a time, of the whole job", async () => {
    const id = machine.ended(60, "succeeded");
    const refused = async (...words: string[]) => (await machine.run("get", id, ...words)).err.trimEnd();
    expect(await refused("--checkpoint", "--history")).toBe("Choose --checkpoint or --history, not both");
    expect(await refused("worker:0", "--checkpoint")).toBe("--checkpoint applies to the whole job: do not name a task");
    expect(await refused("worker:0", "--history")).toBe("--history applies to the whole job: do not name a task");
    expect(await refused("trial:1", "--history")).toBe("--history applies to the whole job: do not name a task");
    expect(await refused("trial:1", "--checkpoint")).not.toContain("the whole job");
  });

  test("get: results and history are told apart, and go where they shall", async () => {
    const out = path.join(machine.folder, "out");
    mkdirSync(out);
    writeFileSync(path.join(out, "model.pt"), "12345");
    const transfer = {
      what: "output",
      state: "done",
      url: `file://${out}`,
      files: 1,
      bytes: 5,
      step: 0,
      atMs: 1,
      reason: "",
    } as const;
    const id = machine.ended(60, "succeeded", {
      tasks: [{ task: "worker:0", state: "succeeded", restarts: 0, transfers: [transfer] }],
    });
    expect((await machine.run("get", id, "--dry-run")).exitCode).toBe(0);
    expect(readdirSync(machine.folder)).not.toContain(id);
    expect((await machine.run("get", id, "worker:0", "--to", "here")).exitCode).toBe(0);
    expect(readFileSync(path.join(machine.folder, "here/model.pt"), "utf8")).toBe("12345");
    expect((await machine.run("get", id, "worker:0", "--to", "here")).err).toContain("is there already");
    expect((await machine.run("get", id, "worker:0", "--to", "here", "--force")).exitCode).toBe(0);
    expect((await machine.run("get", id, "--history")).err).toBe(`${id} left no history\n`);
    expect((await machine.run("get", id, "--checkpoint")).err).toContain("checkpoint");
  });

  test("advise: by the last runs of a name or by one run, and into the job's file", async () => {
    const used = { task: "worker:0", state: "succeeded", restarts: 0, memoryBytes: GIB, maxMemoryBytes: GIB } as const;
    const ran = { startedAtMs: 1_795_300_000_000, endedAtMs: 1_795_301_000_000 };
    const changes = { startedAtMs: ran.startedAtMs, tasks: [{ ...used, ...ran }] };
    machine.ended(3_600, "succeeded", changes);
    const last = machine.ended(60, "succeeded", changes);
    expect((await machine.run("advise", "bert")).out).toMatch(/^bert, last 2 runs/);
    expect(await machine.json("advise", "bert")).toMatchObject({ name: "bert", runs: [{ applicationId: last }, {}] });
    expect(await machine.json("advise", last)).toMatchObject({ runs: [{ applicationId: last }] });
    expect((await machine.run("advise", "other")).err).toContain("None of your jobs called other has ended");
    const file = path.join(machine.folder, "job.xml");
    const before =
      "<configuration><property><name>tony.worker.memory</name><value>4g</value></property></configuration>";
    writeFileSync(file, before);
    await machine.run("advise", last);
    expect(readFileSync(file, "utf8")).toBe(before);
    expect(await machine.json("advise", last)).toMatchObject({
      settings: [{ key: "tony.worker.memory", value: "2g" }],
    });
    await machine.run("advise", last, "--apply", "job.xml");
    expect(readFileSync(file, "utf8")).toBe(before.replace("4g", "2g"));
    expect((await machine.run("advise", last, "--apply", "job.xml")).out).toContain(
      "job.xml keeps tony.worker.memory=2g",
    );
    const none = await machine.run("advise", last, "--apply", "none.xml");
    expect([none.exitCode, none.err]).toEqual([2, expect.stringContaining("none.xml does not exist")]);
  });
});
