import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { LogTails } from "../../../executor/monitoring/log-tails.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { INITIAL_TAIL_CREDIT_BYTES, type LogChunk, type TailRequest } from "../../../src/api/messages.ts";
import { logPrefixOf } from "../../../src/job/launch/container-names.ts";

let folder = "";
let sent: LogChunk[] = [];
let hasRoom = true;
let tails: LogTails;

beforeEach(() => {
  jest.useFakeTimers();
  folder = mkdtempSync(path.join(tmpdir(), "tony-tails-"));
  sent = [];
  hasRoom = true;
  const logs = outputLogs({ logFolder: folder, logPrefix: "" });
  tails = new LogTails({
    task: "worker:0",
    logs,
    earlierLogs: (task) => outputLogs({ logFolder: folder, logPrefix: logPrefixOf(task) }),
    send: (chunk) => sent.push(chunk),
    hasRoom: () => hasRoom,
    generation: () => 2,
  });
});
afterEach(() => {
  tails.clear();
  jest.useRealTimers();
  rmSync(folder, { recursive: true });
});

const write = (text: string) => appendFileSync(path.join(folder, "stdout"), text);
const readFrom = (offset: number, changes: Partial<TailRequest> = {}) =>
  tails.request({
    type: "tail-log",
    tailId: 1,
    task: "worker:0",
    stream: "stdout",
    offset,
    follow: true,
    cancel: false,
    ...changes,
  });
const told = () =>
  sent.splice(0).map(({ tailId, offset, data, end }) => [tailId, offset, Buffer.from(data).toString(), end]);
const bytes = () => sent.reduce((sum, { data }) => sum + data.length, 0);

test("a reader gets no more than he has granted, then what he grants", () => {
  write("x".repeat(INITIAL_TAIL_CREDIT_BYTES + 10));
  readFrom(0);
  expect(bytes()).toBe(INITIAL_TAIL_CREDIT_BYTES);
  tails.credit(1, 4);
  tails.credit(2, 100);
  expect(bytes()).toBe(INITIAL_TAIL_CREDIT_BYTES + 4);
});

test("what a reader grants adds up, also before there is anything to send", () => {
  readFrom(0);
  tails.credit(1, 5);
  tails.credit(1, 5);
  write("x".repeat(INITIAL_TAIL_CREDIT_BYTES + 20));
  tails.look();
  expect(bytes()).toBe(INITIAL_TAIL_CREDIT_BYTES + 10);
});

test("a reader of what grows is sent each piece within a fifth of a second, once, until he has gone", () => {
  write("one");
  readFrom(-2);
  readFrom(0, { tailId: 2 });
  expect(told()).toEqual([
    [1, 1, "ne", false],
    [2, 0, "one", false],
  ]);
  write("two");
  jest.advanceTimersByTime(199);
  expect(told()).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(told()).toEqual([
    [1, 3, "two", false],
    [2, 3, "two", false],
  ]);
  readFrom(0, { cancel: true });
  write("three");
  jest.advanceTimersByTime(400);
  expect(told()).toEqual([[2, 6, "three", false]]);
  readFrom(0, { tailId: 2, cancel: true });
  expect(jest.getTimerCount()).toBe(0);
});

test("who does not follow gets what is there, and its end, whose log it may be that had the container before", () => {
  appendFileSync(path.join(folder, "trainer-0.stdout"), "earlier");
  write("own");
  readFrom(-100, { follow: false, task: "trainer:0" });
  readFrom(1, { tailId: 2, follow: false });
  expect(sent.map(({ generation, skippedBytes }) => [generation, skippedBytes])).toEqual([
    ...[
      [0, 0],
      [0, 0],
      [2, 0],
      [2, 0],
    ],
  ]);
  expect(told()).toEqual([
    [1, 0, "earlier", false],
    [1, 7, "", true],
    [2, 1, "wn", false],
    [2, 3, "", true],
  ]);
  expect(jest.getTimerCount()).toBe(0);
});

test("readers of a connection that was lost are sent nothing on the next one", () => {
  write("x");
  readFrom(0);
  tails.clear();
  write("y");
  tails.look();
  expect(bytes()).toBe(1);
});

test("a reader who is far behind is told once how much he missed", () => {
  write("x".repeat(5 * 1024 * 1024));
  readFrom(0);
  tails.credit(1, 1_000_000);
  expect(sent.length).toBeGreaterThan(2);
  expect(sent.reduce((sum, { skippedBytes }) => sum + skippedBytes, 0)).toBe(sent[0]?.offset);
});

test("who reads to the end misses nothing, however much there is", () => {
  write("x".repeat(5 * 1024 * 1024));
  readFrom(0, { follow: false });
  expect(sent[0]).toMatchObject({ offset: 0, skippedBytes: 0 });
  tails.clear();
  sent = [];
  readFrom(5 * 1024 * 1024);
  readFrom(0, { tailId: 2, cancel: true });
  write("y".repeat(5 * 1024 * 1024));
  tails.finish();
  expect(sent[0]).toMatchObject({ offset: 5 * 1024 * 1024, skippedBytes: 0 });
});

test("a log that ends is over for its readers, also for one who has not granted the rest, who gets no more of it", () => {
  write("x".repeat(INITIAL_TAIL_CREDIT_BYTES + 10));
  readFrom(0);
  expect(sent.some(({ end }) => end)).toBe(false);
  tails.finish();
  expect(sent.at(-1)).toMatchObject({ offset: INITIAL_TAIL_CREDIT_BYTES, end: true });
  const before = sent.length;
  tails.credit(1, 100);
  expect([sent.length, jest.getTimerCount()]).toEqual([before, 0]);
});

test("a busy connection delays a log for as long as it is busy, but not the rest of one that ends", () => {
  hasRoom = false;
  write("the last line\n");
  readFrom(0);
  hasRoom = true;
  jest.advanceTimersByTime(19);
  expect(sent).toEqual([]);
  hasRoom = false;
  jest.advanceTimersByTime(1);
  expect(sent).toEqual([]);
  tails.finish();
  expect(sent.map(({ data, end }) => [Buffer.from(data).toString(), end])).toEqual([
    ["the last line\n", false],
    ["", true],
  ]);
});
