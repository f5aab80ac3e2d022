import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LogTails } from "../../../executor/monitoring/log-tails.ts";
import { outputLogs } from "../../../executor/output/output-files.ts";
import { INITIAL_TAIL_CREDIT_BYTES, type LogChunk } from "../../../src/api/messages.ts";

let folder = "";
let sent: LogChunk[] = [];
let hasRoom = true;
let tails: LogTails;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-tails-"));
  sent = [];
  hasRoom = true;
  const logs = outputLogs({ logFolder: folder, logPrefix: "" });
  tails = new LogTails({
    task: "worker:0",
    logs,
    earlierLogs: () => logs,
    send: (chunk) => sent.push(chunk),
    hasRoom: () => hasRoom,
    generation: () => 1,
  });
});
afterEach(() => {
  tails.clear();
  rmSync(folder, { recursive: true });
});

const write = (text: string) => appendFileSync(path.join(folder, "stdout"), text);
const readFrom = (offset: number) =>
  tails.request({
    type: "tail-log",
    tailId: 1,
    task: "worker:0",
    stream: "stdout",
    offset,
    follow: true,
    cancel: false,
  });
const bytes = () => sent.reduce((sum, { data }) => sum + data.length, 0);

test("a reader gets no more than he has granted, then what he grants", () => {
  write("x".repeat(INITIAL_TAIL_CREDIT_BYTES + 10));
  readFrom(0);
  expect(bytes()).toBe(INITIAL_TAIL_CREDIT_BYTES);
  tails.credit(1, 4);
  expect(bytes()).toBe(INITIAL_TAIL_CREDIT_BYTES + 4);
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

test("a busy connection delays a log, but not the rest of one that ends", () => {
  hasRoom = false;
  write("the last line\n");
  readFrom(0);
  expect(sent).toEqual([]);
  tails.finish();
  expect(sent.map(({ data, end }) => [Buffer.from(data).toString(), end])).toEqual([
    ["the last line\n", false],
    ["", true],
  ]);
});
