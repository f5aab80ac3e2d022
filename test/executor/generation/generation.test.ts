import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
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
import type { ExecutorReport } from "../../../src/api/messages.ts";
import type { Notice } from "../../../src/job/execution.ts";
import { anExecutorJob } from "../../support/api.ts";
import { eventually } from "../../support/eventually.ts";
import { executorSettingsIn } from "../../support/executor-launch.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";

const reason = { code: "generation-ended", why: "a peer failed" } as const;
const drained: Notice = { cause: "decommissioning", atMs: 1, endsAtMs: 9 };

let folder: string;
let reports: ExecutorReport[];
let generation: Generation;
const file = (name: string) => path.join(folder, name);
const exits = () => reports.flatMap((report) => (report.type === "child-exited" ? [report.exit] : []));
const ended = () => eventually("the program has ended", () => exits().length > 0);

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-generation-"));
  reports = [];
  const settings = executorSettingsIn(folder);
  generation = new Generation({
    number: 1,
    settings,
    logs: outputLogs(settings),
    sampler: new MemorySampler(readKernelUnits()),
    log: silentLog,
    nowMs: Date.now,
    random: Math.random,
    report: (report) => reports.push(report),
    suspendedMs: () => 7,
  });
  await generation.prepare();
});
afterEach(async () => {
  await generation.stop({ graceMs: 0, reason });
  await generation.releasePorts();
  rmSync(folder, { recursive: true });
});

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
    await running("sleep 100");
    const [started] = reports;
    const { pid, atMs } = started?.type === "child-started" ? started : { pid: 0, atMs: 0 };
    expect(generation.child).toEqual({ state: "running", pid, startedAtMs: atMs, suspendedMs: 7 });
    expect(generation.started).toBe(true);
    expect(generation.environment).toMatchObject({ TONY_TEST: path.basename(folder) });
    generation.signal("SIGTERM");
    await ended();
    expect(generation.child).toEqual({ state: "exited", exit: generation.exit, suspendedMs: 7 });
    expect(generation.exit).toMatchObject({ signal: "SIGTERM" });
    expect([generation.environment, await generation.stacks()]).toEqual([undefined, undefined]);
  });

  test("ends as it is killed, where its executor cannot wait for that", async () => {
    await running("trap '' TERM; sleep 100");
    generation.reportKilled();
    expect(exits()).toEqual([expect.objectContaining({ signal: "SIGKILL", lastLines: ["begun"] })]);
    generation.kill();
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
    ["it must not run", { unusable: "the checkpoint is damaged" }, { failedToStart: true, refusedBySystem: false }],
    ["the system does not let it", { environments: [{ BIG: "x".repeat(200_000) }] }, { refusedBySystem: true }],
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
    await generation.start(planOf("true", { keepParameters }));
    await ended();
    expect(generation.exit).toMatchObject({
      exitCode: 1,
      errorSummary: "its model parameters could not be kept: no space",
    });
  });
});
