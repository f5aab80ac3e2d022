import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { MemorySampler } from "../../../executor/monitoring/memory-sampler.ts";
import { ProgressFile } from "../../../executor/monitoring/progress-file.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { OutputIndex } from "../../../executor/output/output-index.ts";
import { readKernelUnits } from "../../../executor/processes/proc-fs.ts";
import { Program } from "../../../executor/program/program.ts";
import { ProgramRun, type ProgramRunOptions } from "../../../executor/program/program-run.ts";
import { deferred } from "../../support/deferred.ts";
import { eventually } from "../../support/eventually.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";
import { silentLog } from "../../support/silent-log.ts";

let folder: string;
let program: Program;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-program-run-"));
  jest.useFakeTimers({ doNotFake: ["nextTick", "setImmediate", "queueMicrotask"] });
});
afterEach(async () => {
  jest.useRealTimers();
  await program.stop({ graceMs: 0, reason: { code: "unknown" } });
  rmSync(folder, { recursive: true });
});

/** A program that does nothing for long, and may run for so long. */
function runFor(
  limitMs: number,
  sampler = new MemorySampler(readKernelUnits()),
  changes: Partial<ProgramRunOptions> = {},
  command = "exec sleep 100",
): ProgramRun {
  const logs = outputLogs({ logFolder: folder, logPrefix: "" });
  const nowMs = () => Date.now();
  const marker = "TONY_TEST=program-run";
  const environments = [{ PATH: process.env.PATH ?? "", TONY_TEST: "program-run" }] as const;
  program = new Program({ command, environments, marker, logs, nowMs });
  return new ProgramRun({
    program,
    index: new OutputIndex(logs, 1),
    logs,
    logLimits: { maxBytes: 1_000_000, maxFiles: 1 },
    sampler,
    progress: new ProgressFile(path.join(folder, "progress"), silentLog),
    memoryLimitBytes: undefined,
    metricsIntervalMs: 5_000,
    outputLines: 10,
    timeLimit: { limitMs, graceMs: 0 },
    ports: [],
    releasedPorts: [],
    nowMs,
    report: () => undefined,
    ...changes,
  });
}

/** What has been begun has its time, though no timer's. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

test("a program's time limit stands still while it is suspended, as often as that is", () => {
  const run = runFor(10_000);
  for (const ranMs of [4_000, 4_000]) {
    jest.advanceTimersByTime(ranMs);
    run.suspend();
    jest.advanceTimersByTime(60_000);
    expect(program.stopReason).toBeUndefined();
    run.resume();
  }
  jest.advanceTimersByTime(1_999);
  expect(program.stopReason).toBeUndefined();
  jest.advanceTimersByTime(1);
  expect(program.stopReason).toEqual({ code: "ran-too-long", limitMs: 10_000 });
});

test("a program that is suspended has no grace: it could not use it", async () => {
  jest.useRealTimers();
  const run = runFor(10_000);
  program.suspend();
  // A process that has not come to stand yet ends by the first signal that would end it.
  await eventually("the program to stand still", () => program.tree.sample().every(({ state }) => state === "T"));
  const stopped = program.stop({ graceMs: 600_000, reason: { code: "job-ended" } });
  expect(program.stopping?.killedAtMs).toBeLessThanOrEqual(Date.now());
  expect(await stopped).toBe(true);
  expect(await run.ended()).toMatchObject({ signal: "SIGKILL" });
});

test("what a program leaves that is suspended has none either", async () => {
  jest.useRealTimers();
  const run = runFor(10_000, undefined, {}, "trap '' TERM; sleep 100 & exec sleep 100");
  await eventually("its processes", () => program.tree.sample().length === 2);
  program.suspend();
  process.kill(program.pid, "SIGKILL");
  await run.ended();
  expect(await program.clearLeftovers(600_000)).toBe(true);
});

test("a second order to stop a program may shorten its grace", async () => {
  jest.useRealTimers();
  const run = runFor(10_000);
  const reason = { code: "job-ended" } as const;
  const stops = [600_000, 0].map((graceMs) => program.stop({ graceMs, reason }));
  expect(program.stopping?.killedAtMs).toBeLessThanOrEqual(Date.now());
  expect(await Promise.all(stops)).toEqual([true, true]);
  await run.ended();
});

test("what the program before used is not counted for the next", () => {
  const sampler = new MemorySampler(readKernelUnits());
  const before = { pid: 1, parent: 0, group: 1, state: "R", startTicks: 0, cpuTicks: 500, reapedTicks: 0 };
  sampler.add([{ ...before, residentPages: 1_000_000 }], 0);
  runFor(10_000, sampler);
  expect(sampler.current).toBeUndefined();
  const after = { ...before, pid: 2, startTicks: 900, cpuTicks: 0, residentPages: 1 };
  expect(sampler.add([after], 1_000)).toMatchObject({ maxMemoryBytes: readKernelUnits().pageBytes, cpuMs: 0 });
});

test("a program is measured at each look while it is young, then as often as is asked, and not after its end", async () => {
  const looksAtS: number[] = [];
  const startedAtMs = Date.now();
  let isOver = false;
  const gpuSampler = {
    current: undefined,
    look: (nowMs: number) => void looksAtS.push((nowMs - startedAtMs) / 1_000),
    stop: () => {
      isOver = true;
    },
  };
  const run = runFor(100_000, undefined, { gpuSampler });
  jest.advanceTimersByTime(25_000);
  expect(looksAtS).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 19, 24]);
  process.kill(program.pid, "SIGKILL");
  await run.ended();
  expect([isOver, jest.getTimerCount()]).toEqual([true, 0]);
});

test("a program that was killed ran out of memory where it and its executor together had filled the container", async () => {
  jest.useRealTimers();
  const killed = async (memoryLimitBytes: number) => {
    const run = runFor(100_000, undefined, { memoryLimitBytes });
    process.kill(program.pid, "SIGKILL");
    return (await run.ended()).outOfMemory;
  };
  const ownBytes = process.memoryUsage.rss();
  expect([await killed(ownBytes / 2), await killed(ownBytes * 4)]).toEqual([true, false]);
});

test("the memory of a program that was killed is that of the last sample with the executor's own; the most that it had is told", async () => {
  jest.useRealTimers();
  const { pageBytes } = readKernelUnits();
  const process1 = { pid: 1, parent: 0, group: 1, state: "R", startTicks: 0, cpuTicks: 0, reapedTicks: 0 };
  const killed = async (...samplesBytes: readonly number[]) => {
    const sampler = new MemorySampler(readKernelUnits());
    const run = runFor(100_000, sampler, { memoryLimitBytes: process.memoryUsage.rss() + 2 ** 30 });
    for (const bytes of samplesBytes) sampler.add([{ ...process1, residentPages: bytes / pageBytes }], 0);
    process.kill(program.pid, "SIGKILL");
    const { outOfMemory, peakMemoryBytes } = await run.ended();
    return [outOfMemory, peakMemoryBytes];
  };
  expect(await killed(2 ** 31, 2 ** 20)).toEqual([false, 2 ** 31]);
  expect(await killed(2 ** 20, 2 ** 30)).toEqual([true, 2 ** 30]);
});

test("what a look at a program measures is all of it: its disks and its GPUs, too", () => {
  const gpus = { count: 1, devices: [{ utilization: 7 }] };
  const seen: string[] = [];
  const gpuSampler = {
    get current() {
      return seen.includes("look") ? gpus : undefined;
    },
    look: () => void seen.push("look"),
    stop: () => undefined,
  };
  const run = runFor(100_000, undefined, { gpuSampler });
  let readBytes = 0;
  jest.spyOn(program.tree, "ioOf").mockImplementation(() => {
    readBytes += 500;
    return { readBytes, writtenBytes: 0 };
  });
  expect(run.metrics).toBeUndefined();
  jest.advanceTimersByTime(2_000);
  expect(run.metrics).toMatchObject({ gpus, disk: { readBytesPerSecond: 1_000, writtenBytesPerSecond: 0 } });
});

test("a program's progress is told at each look while it runs", () => {
  const report = jest.fn<ProgramRunOptions["report"]>();
  runFor(100_000, undefined, { report });
  writeFileSync(path.join(folder, "progress"), '{"step": 7}\n');
  jest.advanceTimersByTime(1_000);
  expect(report.mock.calls).toEqual([[expect.objectContaining({ type: "child-progress", step: 7 })]]);
});

test("a program's outputs are rotated at its looks, one after the other, and never twice at a time", async () => {
  const logs = outputLogs({ logFolder: folder, logPrefix: "" });
  const rotated: string[] = [];
  const { promise: written, resolve: write } = deferred();
  jest.spyOn(logs.stdout, "rotate").mockImplementation(async () => {
    rotated.push("stdout");
    await written;
  });
  jest.spyOn(logs.stderr, "rotate").mockImplementation(async () => void rotated.push("stderr"));
  runFor(100_000, undefined, { logs });
  jest.advanceTimersByTime(3_000);
  await turns();
  expect(rotated).toEqual(["stdout"]);
  write();
  await turns();
  jest.advanceTimersByTime(1_000);
  await turns();
  expect(rotated).toEqual(["stdout", "stderr", "stdout", "stderr"]);
});

test("how a program's output grew is marked four times a second while it does, and to its end, when nothing is watched any more", async () => {
  const index = new OutputIndex(outputLogs({ logFolder: folder, logPrefix: "" }), 1);
  const look = jest.spyOn(index, "look");
  const run = runFor(100_000, undefined, { index });
  const stdout = path.join(folder, "stdout");
  const looks = () => look.mock.calls.splice(0).length;
  writeFileSync(stdout, "one\n");
  jest.advanceTimersByTime(1_000);
  expect(looks()).toBe(5);
  jest.advanceTimersByTime(4_000);
  expect(looks()).toBe(16);
  jest.advanceTimersByTime(10_000);
  expect(looks()).toBeLessThan(20);
  appendFileSync(stdout, "two\n");
  jest.advanceTimersByTime(1_000);
  appendFileSync(stdout, "three\n");
  process.kill(program.pid, "SIGKILL");
  const { atMs } = await run.ended();
  expect(index.recent.map(({ stdoutBytes }) => stdoutBytes)).toEqual([0, 4, 8, 14]);
  expect([index.recent.at(-1)?.atMs, jest.getTimerCount()]).toEqual([atMs, 0]);
});

test("a program that runs too long is stopped with the grace that such a stop has", () => {
  runFor(10_000, undefined, { timeLimit: { limitMs: 10_000, graceMs: 7_000 } });
  const stop = jest.spyOn(program, "stop");
  jest.advanceTimersByTime(10_000);
  expect(stop.mock.calls).toEqual([[{ graceMs: 7_000, reason: { code: "ran-too-long", limitMs: 10_000 } }]]);
});

test("a command that the shell does not find has failed to start; of much that one says the last lines are told", async () => {
  jest.useRealTimers();
  expect(await runFor(100_000, undefined, {}, "no-such-program").ended()).toMatchObject({ failedToStart: true });
  const { lastLines } = await runFor(100_000, undefined, {}, "seq 1 20; exit 1").ended();
  expect(lastLines).toEqual(["11", "12", "13", "14", "15", "16", "17", "18", "19", "20"]);
});

test.each(["", ">&2"])(
  "a port that another process has is looked for where a program says that its address is in use, on either output: %s",
  async (to) => {
    jest.useRealTimers();
    const server = createServer();
    await listenLocally(server);
    const port = Number(localAddress(server).split(":")[1]);
    const command = `echo 'OSError: [Errno 98] Address already in use' ${to}; exit 1`;
    const taken = async (releasedPorts: readonly number[]) =>
      (await runFor(100_000, undefined, { ports: [port], releasedPorts }, command).ended()).portTaken;
    expect([await taken([port]), await taken([])]).toEqual([true, false]);
    await new Promise((resolve) => server.close(resolve));
  },
);

test("what a program reported last is told when it has ended, also where its line has no end", async () => {
  jest.useRealTimers();
  const steps: number[] = [];
  const report: ProgramRunOptions["report"] = (news) => {
    if (news.type === "child-progress") steps.push(news.step);
  };
  const run = runFor(100_000, undefined, { report });
  writeFileSync(path.join(folder, "progress"), '{"step": 7}');
  await program.stop({ graceMs: 0, reason: { code: "job-ended" } });
  await run.ended();
  expect(steps).toEqual([7]);
});

test("a TensorBoard is announced once, when it listens", async () => {
  const server = createServer();
  await listenLocally(server);
  const port = Number(localAddress(server).split(":")[1]);
  const announced: string[] = [];
  const report: ProgramRunOptions["report"] = (news) => {
    if (news.type === "service-announced") announced.push(news.url);
  };
  runFor(100_000, undefined, { tensorBoard: { host: "node-1", port }, report });
  while (announced.length === 0) {
    jest.advanceTimersByTime(1_000);
    await turns();
  }
  for (let look = 0; look < 5; look += 1) {
    jest.advanceTimersByTime(1_000);
    await turns();
  }
  await new Promise((resolve) => server.close(resolve));
  expect(announced).toEqual([`http://node-1:${port}`]);
});
