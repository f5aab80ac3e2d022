import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { LogTails } from "../../../executor/monitoring/log-tails.ts";
import { MemorySampler } from "../../../executor/monitoring/memory-sampler.ts";
import { ProgressFile } from "../../../executor/monitoring/progress-file.ts";
import { earlierLogs, type OutputLogs, outputLogs } from "../../../executor/output/output-files.ts";
import type { LogChunk, TailRequest } from "../../../src/api/messages.ts";

let folder = "";

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-monitoring-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("the samples of a program's processes", () => {
  const stat = (pid: number, residentPages: number, cpuTicks: number, reapedTicks = 0) => ({
    pid,
    parent: 1,
    state: "S",
    group: 1,
    startTicks: 1,
    residentPages,
    cpuTicks,
    reapedTicks,
  });

  it("sum memory, keep its peak and average, and turn ticks into cores", () => {
    const sampler = new MemorySampler({ pageBytes: 4096, ticksPerSecond: 100 });
    expect(sampler.current).toBeUndefined();
    sampler.add([stat(10, 100, 0), stat(11, 100, 0)], 1000);
    expect(sampler.add([stat(10, 50, 150), stat(11, 50, 100)], 2000)).toEqual({
      memoryBytes: 100 * 4096,
      maxMemoryBytes: 200 * 4096,
      averageMemoryBytes: 150 * 4096,
      cpuCores: 2.5,
      cpuMs: 2_500,
      processes: 2,
    });
  });

  it("add up what a program has used, with what ended between two samples", () => {
    const sampler = new MemorySampler({ pageBytes: 4096, ticksPerSecond: 100 });
    expect(sampler.add([stat(10, 1, 3), stat(11, 1, 40)], 1000).cpuMs).toBe(430);
    // 11 used 60 more and ended, and so did one that no sample has seen and that used 5.
    expect(sampler.add([stat(10, 1, 3, 105)], 2000)).toMatchObject({ cpuCores: 0, cpuMs: 1_080 });
    expect(sampler.add([stat(10, 1, 4, 105)], 3000).cpuMs).toBe(1_090);
    // What nobody of them reaps leaves the others' own.
    expect(sampler.add([stat(10, 1, 4, 105), stat(12, 1, 500)], 4000).cpuMs).toBe(6_090);
    expect(sampler.add([stat(10, 1, 6, 105)], 5000).cpuMs).toBe(6_110);
  });

  it("turn what was read and written into bytes a second, with what came before the first one", () => {
    const sampler = new MemorySampler({ pageBytes: 4096, ticksPerSecond: 100 });
    const diskAt = (nowMs: number, readBytes: number, writtenBytes: number) =>
      sampler.add([stat(10, 1, 0)], nowMs, { readBytes, writtenBytes }).disk;
    expect(diskAt(1_000, 500, 0)).toEqual({ readBytesPerSecond: 0, writtenBytesPerSecond: 0 });
    expect(diskAt(2_000, 600, 40)).toEqual({ readBytesPerSecond: 600, writtenBytesPerSecond: 40 });
    expect(diskAt(6_000, 600, 1_040)).toEqual({ readBytesPerSecond: 0, writtenBytesPerSecond: 250 });
    // A process that nobody of them reaped took its counts along.
    expect(diskAt(7_000, 100, 1_090)).toEqual({ readBytesPerSecond: 0, writtenBytesPerSecond: 50 });
    expect(sampler.add([stat(10, 1, 0)], 8_000)).not.toHaveProperty("disk");
    sampler.reset();
    diskAt(9_000, 10, 0);
    expect(diskAt(10_000, 10, 0)).toEqual({ readBytesPerSecond: 10, writtenBytesPerSecond: 0 });
  });

  it("begin anew with a new program", () => {
    const sampler = new MemorySampler({ pageBytes: 4096, ticksPerSecond: 100 });
    sampler.add([stat(10, 100, 500)], 1000);
    sampler.reset();
    expect(sampler.current).toBeUndefined();
    expect(sampler.add([stat(20, 1, 7, 50)], 2000)).toMatchObject({ cpuMs: 570 });
    sampler.reset();
    const memory = { maxMemoryBytes: 4096, averageMemoryBytes: 4096 };
    expect(sampler.add([stat(20, 1, 7)], 3000)).toMatchObject({ ...memory, cpuCores: 0, cpuMs: 70 });
  });
});

describe("the progress file", () => {
  const line = (mark: unknown) => `${JSON.stringify(mark)}\n`;
  let said: string[] = [];
  const log = { warn: (_event: string, message: string) => said.push(message) };
  const lookAt = (text: string) => {
    const file = path.join(folder, "progress.jsonl");
    writeFileSync(file, text);
    return new ProgressFile(file, log).look(1);
  };
  beforeEach(() => {
    said = [];
  });

  it("tells the newest step and checkpoint, once", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    expect(progress.look(1)).toBeUndefined();
    appendFileSync(file, line({ step: 1 }) + line({ step: 2 }));
    expect(progress.look(5)).toEqual({ type: "child-progress", step: 2, atMs: 5 });
    expect(progress.look(6)).toBeUndefined();
    appendFileSync(file, line({ checkpoint: "/ckpt/2", step: 2 }) + line({ step: 3 }));
    const checkpoint = { path: "/ckpt/2", step: 2, atMs: 7 };
    expect(progress.look(7)).toEqual({ type: "child-progress", step: 3, atMs: 7, checkpoint });
    appendFileSync(file, line({ step: 4 }));
    expect(progress.look(8)).toEqual({ type: "child-progress", step: 4, atMs: 8, checkpoint });
  });

  it("repeats the last value of each metric, and says of which step it is where that is another", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    appendFileSync(file, line({ step: 1, metrics: { accuracy: 0.5, loss: 2 } }));
    expect(progress.look(1)).toEqual({
      type: "child-progress",
      ...{ step: 1, atMs: 1, metrics: { accuracy: 0.5, loss: 2 } },
    });
    appendFileSync(file, line({ step: 2, metrics: { loss: 1 } }));
    expect(progress.look(2)).toMatchObject({
      ...{ step: 2, metrics: { accuracy: 0.5, loss: 1 }, metricSteps: { accuracy: 1 } },
    });
    appendFileSync(file, line({ metrics: { accuracy: 0.6 } }));
    expect(progress.look(3)).not.toHaveProperty("metricSteps");
  });

  it("waits for the end of a line that is still being written", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    writeFileSync(file, '{"step": 4');
    expect(progress.look(1)).toBeUndefined();
    appendFileSync(file, "2}\n");
    expect(progress.look(2)).toMatchObject({ step: 42 });
  });

  it("has a last line without its end when the program is over", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    writeFileSync(file, '{"step": 3, "metrics": {"loss": 0.5}}');
    expect(progress.look(1)).toBeUndefined();
    expect(progress.look(2, true)).toMatchObject({ step: 3, metrics: { loss: 0.5 } });
    expect(progress.look(3, true)).toBeUndefined();
  });

  it("passes over what it does not know", () => {
    expect(lookAt(`\n[]\nnull\n${line({ loss: 3 })}`)).toBeUndefined();
    expect(said).toEqual([]);
  });

  it("says once what was meant for it and cannot be kept", () => {
    const wrong = `nonsense\n${line({ step: -1 })}${line({ step: 1.5 })}${line({ checkpoint: 7 })}`;
    expect(lookAt(wrong.repeat(3))).toBeUndefined();
    expect(said).toEqual([
      "A line is not JSON: nonsense (TONY_PROGRESS_FILE)",
      '"step" is not a whole number: -1 (TONY_PROGRESS_FILE)',
      '"step" is not a whole number: 1.5 (TONY_PROGRESS_FILE)',
      '"checkpoint" is not a path or an address: 7 (TONY_PROGRESS_FILE)',
    ]);
  });

  it("says the first eighty characters of what is longer", () => {
    lookAt(`${"x".repeat(80)}\n${"y".repeat(81)}\n`);
    const shown = ["x".repeat(80), `${"y".repeat(80)}…`];
    expect(said).toEqual(shown.map((text) => `A line is not JSON: ${text} (TONY_PROGRESS_FILE)`));
  });

  it("says no more than ten such things", () => {
    lookAt(Array.from({ length: 50 }, (_, index) => line({ step: -1 - index })).join(""));
    expect(said).toHaveLength(10);
  });

  it("says that it reads only the end of very much", () => {
    expect(lookAt(line({ step: 1 }).repeat(10_000))).toMatchObject({ step: 1 });
    expect(said).toContain("More than 65536 bytes came at once: only the last are read. (TONY_PROGRESS_FILE)");
  });

  it("takes what JSON has no number for, as Python writes it, and null, as JavaScript does", () => {
    const text = '{"step": 7, "metrics": {"loss": NaN, "low": -Infinity, "say \\"NaN\\"": 1, "NaN": 2}}\n';
    const metrics = { loss: Number.NaN, low: Number.NEGATIVE_INFINITY, 'say "NaN"': 1, NaN: 2 };
    expect(lookAt(text)).toMatchObject({ step: 7, metrics: { loss: metrics.loss, low: metrics.low, NaN: 2 } });
    expect(lookAt(line({ metrics: { loss: Number.NaN } }))).toMatchObject({ metrics: { loss: Number.NaN } });
  });

  it("tells the last value of each metric, with every later report", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    writeFileSync(file, line({ metrics: { loss: 0.9, accuracy: 0.1 } }) + line({ step: 2, metrics: { loss: 0.4 } }));
    const metrics = { loss: 0.4, accuracy: 0.1 };
    expect(progress.look(1)).toEqual({
      type: "child-progress",
      step: 2,
      atMs: 1,
      metrics,
      metricSteps: { accuracy: 0 },
    });
    appendFileSync(file, line({ step: 3 }));
    expect(progress.look(2)).toMatchObject({ step: 3, metrics });
  });

  it("takes numbers for metrics, by names of whatever can be seen", () => {
    const metrics = { "val/acc@1": 0.9, "f1[é]": 0.8, "loss=a|b%": 1, ["m".repeat(64)]: 2 };
    expect(lookAt(line({ metrics }))).toMatchObject({ metrics });
    expect(said).toEqual([]);
  });

  it("says which metrics it does not keep", () => {
    const metrics = { "two words": 1, text: "x", flag: true, [`m${"m".repeat(64)}`]: 1, "bell\u0007": 1 };
    expect(lookAt(line({ metrics }).repeat(2) + line({ metrics: [1] }))).toBeUndefined();
    const name = "a name has 1 to 64 characters and no spaces. (TONY_PROGRESS_FILE)";
    expect(said).toEqual([
      `The metric "two words" is not kept: ${name}`,
      'The metric "text" is not kept where it is not a number. (TONY_PROGRESS_FILE)',
      'The metric "flag" is not kept where it is not a number. (TONY_PROGRESS_FILE)',
      `The metric "m${"m".repeat(64)}" is not kept: ${name}`,
      `The metric "bell\\u0007" is not kept: ${name}`,
      '"metrics" is not an object of numbers by name: [1] (TONY_PROGRESS_FILE)',
    ]);
  });

  it("keeps no more than 32 metrics, and says so", () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`m${index}`, index]));
    const { metrics = {} } = lookAt(line({ metrics: many })) ?? {};
    expect(Object.keys(metrics)).toEqual(Object.keys(many).slice(0, 32));
    expect(said).toEqual(['The metric "m32" is not kept: there are 32 others already. (TONY_PROGRESS_FILE)']);
    const again = lookAt(line({ metrics: many }) + line({ step: 2, metrics: { m31: 7, m32: 7 } }));
    expect([again?.metrics?.m31, again?.metrics?.m32]).toEqual([7, undefined]);
  });

  it("begins anew when a program has emptied it", () => {
    const file = path.join(folder, "progress.jsonl");
    const progress = new ProgressFile(file, log);
    writeFileSync(file, line({ step: 1000 }));
    progress.look(1);
    writeFileSync(file, line({ step: 1 }));
    expect(progress.look(2)).toMatchObject({ step: 1 });
  });
});

describe("the tails of logs", () => {
  let chunks: LogChunk[];
  let tails: LogTails;
  /** How many chunks the connection takes. */
  let room: number;

  beforeEach(() => {
    chunks = [];
    room = 1_000;
    tails = tailsOf(outputLogs({ logFolder: folder, logPrefix: "" }));
  });
  afterEach(() => tails.clear());

  const tailsOf = (logs: OutputLogs) =>
    new LogTails({
      task: "worker:0",
      logs,
      earlierLogs: (task) => earlierLogs(folder, task),
      send: (chunk) => chunks.push(chunk),
      hasRoom: () => chunks.length < room,
      generation: () => 3,
    });
  const request: TailRequest = {
    type: "tail-log",
    tailId: 1,
    task: "worker:0",
    stream: "stdout",
    offset: 0,
    follow: false,
    cancel: false,
  };
  const text = () => chunks.map(({ data }) => Buffer.from(data).toString()).join("");

  it("give a log and its end", () => {
    writeFileSync(path.join(folder, "stdout"), "hello\n");
    tails.request(request);
    expect(text()).toBe("hello\n");
    expect(chunks.at(0)).toMatchObject({ offset: 0, end: false, generation: 3, skippedBytes: 0 });
    expect(chunks.at(-1)).toMatchObject({ offset: 6, end: true });
  });

  it("give what the tasks wrote that had the container before, each its own, of a generation that is not known", () => {
    writeFileSync(path.join(folder, "stdout"), "prepared\n");
    writeFileSync(path.join(folder, "clean-0.stdout"), "cleaned\n");
    writeFileSync(path.join(folder, "worker-0.stdout"), "worked\n");
    tails = tailsOf(outputLogs({ logFolder: folder, logPrefix: "worker-0." }));
    for (const task of ["prepare:0", "clean:0", "worker:0"]) tails.request({ ...request, task });
    expect(text()).toBe("prepared\ncleaned\nworked\n");
    expect(chunks.filter(({ end }) => end).map(({ generation }) => generation)).toEqual([0, 0, 3]);
  });

  it("give a log that was closed meanwhile in one piece, and say how much of it is gone", async () => {
    const logs = outputLogs({ logFolder: folder, logPrefix: "" });
    tails = tailsOf(logs);
    for (const line of ["first\n", "second\n", "third\n"]) {
      appendFileSync(logs.stdout.file, line);
      await logs.stdout.rotate({ maxBytes: 5, maxFiles: 2 }, (work) => work());
    }
    appendFileSync(logs.stdout.file, "last\n");
    tails.request(request);
    expect(text()).toBe("second\nthird\nlast\n");
    expect(chunks.map(({ offset, skippedBytes }) => [offset, skippedBytes])).toEqual([
      [6, 6],
      [13, 0],
      [19, 0],
      [24, 0],
    ]);
  });

  it("end at once where nothing was written yet", () => {
    tails.request(request);
    expect(chunks).toMatchObject([{ offset: 0, end: true }]);
  });

  it("begin so many bytes before the end", () => {
    writeFileSync(path.join(folder, "stderr"), "0123456789");
    tails.request({ ...request, stream: "stderr", offset: -4 });
    expect(text()).toBe("6789");
  });

  it("send no more than the reader has granted", () => {
    writeFileSync(path.join(folder, "stdout"), Buffer.alloc(300_000, "x"));
    tails.request(request);
    expect(text()).toHaveLength(131_072);
    tails.credit(1, 10_000);
    expect(text()).toHaveLength(141_072);
    tails.credit(1, 200_000);
    expect(text()).toHaveLength(300_000);
    expect(chunks.at(-1)).toMatchObject({ end: true });
  });

  it("wait, however many they are, for a connection that is busy, and go on when it is not", () => {
    writeFileSync(path.join(folder, "stdout"), Buffer.alloc(100_000, "x"));
    room = 16;
    for (let tailId = 1; tailId <= 300; tailId += 1) tails.request({ ...request, tailId, follow: true });
    expect(chunks).toHaveLength(16);
    room = 10_000;
    tails.look();
    expect(text()).toHaveLength(300 * 100_000);
    tails.clear();
  });

  it("give the rest and the end of all, though the connection is busy", () => {
    writeFileSync(path.join(folder, "stdout"), "rest\n");
    room = 0;
    for (const tailId of [1, 2]) tails.request({ ...request, tailId, follow: true });
    tails.finish();
    expect(text()).toBe("rest\nrest\n");
    expect(chunks.filter(({ end }) => end)).toHaveLength(2);
  });

  it("follow a log as it grows, until they are cancelled", () => {
    tails.request({ ...request, follow: true });
    appendFileSync(path.join(folder, "stdout"), "a\n");
    tails.look();
    appendFileSync(path.join(folder, "stdout"), "b\n");
    tails.look();
    expect(text()).toBe("a\nb\n");
    tails.request({ ...request, cancel: true });
    appendFileSync(path.join(folder, "stdout"), "c\n");
    tails.look();
    expect(text()).toBe("a\nb\n");
  });

  it("move a reader on that is far behind a growing log, and say how much it missed", () => {
    tails.request({ ...request, follow: true });
    writeFileSync(path.join(folder, "stdout"), Buffer.alloc(5_000_000, "x"));
    tails.look();
    const missed = 5_000_000 - 262_144;
    expect(chunks[0]).toMatchObject({ offset: missed, skippedBytes: missed });
    expect(chunks[1]).toMatchObject({ skippedBytes: 0 });
  });

  it("give followers the rest and the end when nothing more will come", () => {
    tails.request({ ...request, follow: true });
    appendFileSync(path.join(folder, "stdout"), "last\n");
    tails.finish();
    expect(text()).toBe("last\n");
    expect(chunks.filter(({ end }) => end)).toHaveLength(1);
  });
});
