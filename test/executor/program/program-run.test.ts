import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
