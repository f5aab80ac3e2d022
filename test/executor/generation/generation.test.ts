import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { Generation, type ProgramPlan } from "../../../executor/generation/generation.ts";
import { MemorySampler } from "../../../executor/monitoring/memory-sampler.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { readKernelUnits } from "../../../executor/processes/proc-fs.ts";
import { takenPorts } from "../../../executor/program/ports.ts";
import { ProgramRun } from "../../../executor/program/program-run.ts";
import type { ExecutorSettings } from "../../../executor/settings.ts";
import type { ExecutorReport } from "../../../src/api/messages.ts";
import type { Notice } from "../../../src/job/execution.ts";
import { anExecutorJob } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { executorSettingsIn } from "../../support/executor-launch.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { isStopped, processesWith } from "../../support/processes.ts";
import { silentLog } from "../../support/silent-log.ts";

const reason = { code: "generation-ended", why: "a peer failed" } as const;
const drained: Notice = { cause: "decommissioning", atMs: 1, endsAtMs: 9 };

let folder: string;
let reports: ExecutorReport[];
let warned: string[];
let generation: Generation;
const file = (name: string) => path.join(folder, name);
const exits = () => reports.flatMap((report) => (report.type === "child-exited" ? [report.exit] : []));
const ended = () => eventually("the program has ended", () => exits().length > 0);

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-generation-"));
  [reports, warned] = [[], []];
  generation = new Generation({ ...optionsIn(executorSettingsIn(folder)), number: 1 });
  await generation.prepare();
});
afterEach(async () => {
  await generation.stop({ graceMs: 0, reason });
  await generation.releasePorts();
  rmSync(folder, { recursive: true });
});

function optionsIn(settings: ExecutorSettings) {
  return {
    settings,
    logs: outputLogs(settings),
    sampler: new MemorySampler(readKernelUnits()),
    log: { ...silentLog, warn: (_event: string, message: string) => void warned.push(message) },
    nowMs: Date.now,
    random: Math.random,
    report: (report: ExecutorReport) => void reports.push(report),
    suspendedMs: () => 7,
  };
}

function planOf(command: string, changes: Partial<ProgramPlan> = {}): ProgramPlan {
  const job = anExecutorJob(aJobSpec());
  const marker = path.basename(folder);
  return {
    job,
    command,
    environments: [{ PATH: process.env.PATH ?? "", TONY_TEST: marker }],
    marker: `TONY_TEST=${marker}`,
    progressFile: file("progress"),
    noticeFile: file("notice"),
    hostsFolder: file("hosts"),
    start: {
      spec: job.spec,
      task: { role: "worker", index: 0 },
      applicationId: job.applicationId,
      ...{ attempt: 1, generation: 1, restarts: 0, amHost: "127.0.0.1", amPort: 1 },
    },
    ...changes,
  };
}

/** It has begun: what it prints first is there. */
async function running(command: string, changes: Partial<ProgramPlan> = {}): Promise<void> {
  await generation.start(planOf(`echo begun; ${command}`, changes));
  await eventually("it has begun", () => readFileSync(file("stdout"), "utf8").startsWith("begun\n"));
}

describe("a program's way", () => {
  test("is from none over running to its end, which is told once", async () => {
    expect([generation.child, generation.started]).toEqual([{ state: "none" }, false]);
    expect([generation.environment, await generation.stacks()]).toEqual([undefined, undefined]);
    // Nothing runs yet that could be killed.
    generation.reportKilled();
    generation.kill();
    expect(reports).toEqual([]);
    await running("sleep 100");
    const [started] = reports;
    const { pid, atMs } = started?.type === "child-started" ? started : { pid: 0, atMs: 0 };
    expect(generation.child).toEqual({ state: "running", pid, startedAtMs: atMs, suspendedMs: 7 });
    expect(generation.started).toBe(true);
    expect(generation.environment).toMatchObject({ TONY_TEST: path.basename(folder) });
    expect(await generation.stacks()).toContainEqual(expect.objectContaining({ program: "sleep" }));
    generation.signal("SIGTERM");
    await ended();
    expect(generation.child).toEqual({ state: "exited", exit: generation.exit, suspendedMs: 7 });
    expect(generation.exit).toMatchObject({ signal: "SIGTERM" });
    expect([generation.environment, await generation.stacks()]).toEqual([undefined, undefined]);
  });

  test("stands still while it is suspended, and so does its time", async () => {
    const time = [jest.spyOn(ProgramRun.prototype, "suspend"), jest.spyOn(ProgramRun.prototype, "resume")];
    await running(`until test -e ${file("go")}; do sleep 0.05; done`);
    generation.suspend();
    const pids = () => processesWith("TONY_TEST", path.basename(folder));
    await eventually("it stands still", () => pids().every(isStopped));
    writeFileSync(file("go"), "");
    expect([pids().length > 0, exits()]).toEqual([true, []]);
    generation.resume();
    await ended();
    expect(time.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
    for (const spy of time) spy.mockRestore();
  });

  test("ends as it is killed, where its executor cannot wait for that", async () => {
    await running("trap '' TERM; sleep 100");
    generation.reportKilled();
    generation.reportKilled();
    expect(exits()).toEqual([expect.objectContaining({ signal: "SIGKILL", lastLines: ["begun"] })]);
    generation.kill();
    await eventually("nothing of it runs", () => processesWith("TONY_TEST", path.basename(folder)).length === 0);
    expect(await generation.stop({ graceMs: 0, reason })).toBe(true);
    expect(exits()).toHaveLength(1);
  });

  test("ends where it is stopped, with the reason, and nothing of it is left", async () => {
    await running("sleep 100 & sleep 100");
    expect(await generation.stop({ graceMs: 10_000, reason })).toBe(true);
    expect(exits()).toEqual([expect.objectContaining({ stopReason: reason })]);
    expect(await generation.leftovers).toBe("");
  });

  test("ends where it is stopped, and what takes longer to stop than its first process is not said to be left", async () => {
    await running("(trap '' TERM; sleep 1000; sleep 1000) & exec sleep 1000");
    expect(await generation.stop({ graceMs: 400, reason })).toBe(true);
    expect(await generation.leftovers).toBe("");
  });

  test.each<[string, Partial<ProgramPlan>, object]>([
    [
      "it must not run",
      { unusable: "the checkpoint is damaged" },
      { failedToStart: true, refusedBySystem: false, errorSummary: "the checkpoint is damaged" },
    ],
    [
      "the system does not let it",
      { environments: [{ BIG: "x".repeat(200_000) }] },
      { refusedBySystem: true, errorSummary: expect.stringContaining("E2BIG") },
    ],
  ])("is over before it began where %s", async (_, changes, exit) => {
    await generation.start(planOf("echo ran", changes));
    await ended();
    expect(exits()).toEqual([expect.objectContaining({ exitCode: 1, ...exit })]);
  });

  test("is over before it began where the order to stop comes first", async () => {
    expect(generation.isStopped).toBe(false);
    expect(await generation.stop({ graceMs: 0, reason })).toBe(true);
    expect(generation.isStopped).toBe(true);
    await generation.start(planOf("echo ran"));
    expect(exits()).toEqual([expect.objectContaining({ signal: "SIGTERM", stopReason: reason })]);
    expect(reports).toHaveLength(1);
  });
});

test.each(["true", undefined])(
  "what helps a program is closed when it has ended, also where it never ran: %s",
  async (command) => {
    const closed: string[] = [];
    const closing = (what: string) => ({ close: async () => void closed.push(what) });
    const never = command === undefined ? { unusable: "it is not to run" } : {};
    await generation.start(planOf("true", { ...never, remoteShell: closing("shell"), api: closing("api") }));
    await eventually("they are closed", () => closed.length === 2);
    expect(exits()).toHaveLength(1);
  },
);

test("before they are opened there are no ports, and it cannot be registered", async () => {
  const settings = executorSettingsIn(folder);
  const next = new Generation({ ...optionsIn(settings), number: 2 });
  expect([next.prepared, next.ports]).toEqual([false, { task: 0, tensorBoard: 0, named: {} }]);
  await next.prepare();
  expect([next.prepared, Object.keys(next.ports.named)]).toEqual([true, ["rpc"]]);
  await next.releasePorts();
});

test("the task's own port is served while the program runs, and free when it has ended; the others are the program's", async () => {
  const { task, named } = generation.ports;
  await running(`until test -e ${file("done")}; do sleep 0.05; done`, {
    serve: (_request, response) => response.end("served"),
  });
  expect(await takenPorts([task, ...Object.values(named)])).toEqual([task]);
  const answer = await new Promise<string>((resolve, reject) => {
    get(`http://127.0.0.1:${task}/`, { agent: false }, (response) => void text(response).then(resolve, reject)).on(
      "error",
      reject,
    );
  });
  expect(answer).toBe("served");
  generation.signal("SIGKILL");
  await ended();
  await eventually("the port is free", async () => (await takenPorts([task])).length === 0);
});

test("a notice to a program is in its file, and told once; another one asks it to save again", async () => {
  expect(generation.notice(drained)).toBe(false);
  await running("sleep 100");
  expect(generation.advice).toEqual({ answer: "continue" });
  expect([generation.notice(drained), generation.notice(drained)]).toEqual([true, false]);
  expect(JSON.parse(readFileSync(file("notice"), "utf8"))).toEqual({ cause: "decommissioning", deadlineMs: 9 });
  const save = { answer: "checkpoint-now", cause: "decommissioning", deadlineMs: 9 };
  expect(generation.advice).toEqual(save);
  generation.saved();
  expect(generation.advice).toEqual({ answer: "continue" });
  expect(generation.notice({ ...drained, atMs: 2 })).toBe(true);
  expect(generation.advice).toEqual(save);
  const stopped = generation.stop({ graceMs: 60_000, reason });
  expect(generation.advice).toMatchObject({ answer: "stop" });
  await stopped;
  expect(generation.notice({ ...drained, atMs: 3 })).toBe(false);
});

test("what a program's command leaves is named and ended when it has ended by itself", async () => {
  // A shell's child has the shell's name until it has become its program.
  await running(`sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; echo $! > ${file("left")}`);
  await ended();
  expect(await generation.leftovers).toMatch(/^its command ended before 1 process of it \(sleep\), /);
  expect(warned).toEqual([expect.stringMatching(/^The program left processes: its command ended before 1 process/)]);
  const left = Number(readFileSync(file("left"), "utf8"));
  expect(existsSync(`/proc/${left}`) && !readFileSync(`/proc/${left}/stat`, "utf8").includes(") Z ")).toBe(false);
});

test("of many kinds of processes that a command leaves three are named, each once, and all are counted", async () => {
  const kinds = ["one", "one", "two", "three", "four"].map((name) => file(name));
  const begun = kinds.map(
    (kind) =>
      `cp "$(command -v sleep)" ${kind} 2> /dev/null; ${kind} 1000 & until grep -q ${path.basename(kind)} /proc/$!/comm; do :; done`,
  );
  await running(begun.join("; "));
  await ended();
  const [, named = ""] =
    /^its command ended before 5 processes of it \((.*)\), /.exec(await generation.leftovers) ?? [];
  expect(new Set(named.split(", ")).size).toBe(3);
});

test("a program's Python processes write where they stand before it is stopped for that, and nothing is asked of one that has ended", async () => {
  const waits = "import faulthandler, time; faulthandler.enable(); print('waits', flush=True); time.sleep(1000)";
  await running(`exec python3 -c "${waits}"`);
  await eventually("it waits", () => readFileSync(file("stdout"), "utf8").includes("waits"));
  const hung = { code: "hung", noProgressMs: 60_000, step: 1 } as const;
  await generation.dumpStacks(hung);
  await ended();
  expect(exits()).toMatchObject([{ stopReason: hung, traceback: expect.stringContaining('File "<string>", line 1') }]);
  const before = generation.advice;
  await generation.dumpStacks(reason);
  expect(generation.advice).toEqual(before);
});

describe("what is watched beside a program", () => {
  test("is its progress, of which only the last report is sent that waits, and its TensorBoard", async () => {
    const settings = executorSettingsIn(folder, { tensorBoard: true });
    const sent: [string, string | undefined][] = [];
    const next = new Generation({
      ...optionsIn(settings),
      number: 2,
      report: (report, replaces) => {
        reports.push(report);
        sent.push([report.type, replaces]);
      },
    });
    await next.prepare();
    const port = next.ports.tensorBoard;
    const serves = `import socket, time; s = socket.create_server(("127.0.0.1", ${port})); time.sleep(1000)`;
    await next.start(planOf(`echo '{"step": 5}' >> ${file("progress")}; exec python3 -c '${serves}'`));
    await eventually("both are told", () => sent.length >= 3);
    const reason = { code: "job-ended" } as const;
    await next.stop({ graceMs: 0, reason });
    await next.releasePorts();
    expect(sent).toContainEqual(["child-progress", "progress"]);
    expect(sent).toContainEqual(["service-announced", undefined]);
    expect(reports).toContainEqual(expect.objectContaining({ url: `http://127.0.0.1:${port}` }));
  });

  test("is that it missed the others, where its framework can go on without some", async () => {
    const job = anExecutorJob(aJobSpec({ framework: "horovod" }));
    await generation.start(planOf("echo 'tony-ts: the others are done' >&2; exit 1", { job }));
    await ended();
    expect(exits()).toMatchObject([{ missedMeeting: "closed" }]);
  });
});

describe("what a program tells the others", () => {
  test("is kept before its end is told, where it has succeeded", async () => {
    const kept: string[] = [];
    const keepParameters = async (output: string) => {
      expect(exits()).toEqual([]);
      kept.push(output);
    };
    await generation.start(planOf("echo told", { keepParameters }));
    await ended();
    expect(kept).toEqual(["told\n"]);
  });

  test("is not asked for where it has failed", async () => {
    const keepParameters = jest.fn(async () => undefined);
    await generation.start(planOf("exit 3", { keepParameters }));
    await ended();
    expect([keepParameters.mock.calls.length, generation.exit?.exitCode]).toEqual([0, 3]);
  });

  test("that cannot be kept makes it one that has failed", async () => {
    const keepParameters = async () => {
      throw new Error("no space");
    };
    await generation.start(planOf("echo told", { keepParameters }));
    await ended();
    expect(generation.exit).toMatchObject({
      ...{ exitCode: 1, lastLines: ["told"] },
      errorSummary: "its model parameters could not be kept: no space",
    });
  });
});
