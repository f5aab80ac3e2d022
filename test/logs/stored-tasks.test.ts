import { Readable } from "node:stream";
import { expect, test } from "@jest/globals";
import { closedLogName } from "../../src/job/closed-log.ts";
import { OUTPUT_INDEX } from "../../src/job/output-index.ts";
import { ownLines } from "../../src/logs/own-log.ts";
import { executorLines, readMasterLogs, StoredTask, storedLines } from "../../src/logs/stored-tasks.ts";
import { allOf, containerId, storeOf, tenancy } from "./stored-logs.ts";

const other = "container_1795305600000_0001_01_000003";
const masterOf = (attempt: number) => `container_1795305600000_0001_${String(attempt).padStart(2, "0")}_000001`;
const started = (task: string, container: string) => `${JSON.stringify({ event: "task-started", task, container })}\n`;

test("all that tasks printed comes task by task, of each container after container, as the AM's log has them", async () => {
  const store = storeOf([
    ["am.log", started("worker:0", containerId) + started("worker:1", other), masterOf(1)],
    ["am.log", started("worker:0", other), masterOf(2)],
    ["stdout", "first\n"],
    ["stdout", "of the other\n", other],
    ["worker-0.stdout", "second\n", other],
  ]);
  const lines = await allOf(storedLines(store, ["worker:1", "worker:0"]));
  expect(lines.map(({ task, line }) => `${task} ${line.line}`)).toEqual([
    "worker:1 of the other",
    "worker:0 first",
    "worker:0 second",
  ]);
});

test("the AM's log is that of each attempt, in their order, with what was closed of it first", async () => {
  const store = storeOf([
    ["am.log", "eleventh\n", masterOf(11)],
    ["am.log", "c\n", masterOf(2)],
    [closedLogName("am.log", 0), "a\n", masterOf(2)],
    [closedLogName("am.log", 2), "b\n", masterOf(2)],
    ["stdout", "what is no log of ours", masterOf(2)],
    ["am.log", "a task's", containerId],
    ["am.log", "a task's", "container_1795305600000_0001_01_0000012"],
  ]);
  expect(await readMasterLogs(store)).toEqual(["a\nb\nc\n", "eleventh\n"]);
});

test("what was lost of a task's output is counted over all of its containers", async () => {
  const mark = "1 1 100 0\n";
  const store = storeOf([
    [OUTPUT_INDEX, mark],
    [closedLogName("stdout", 40), "x".repeat(60)],
    ["stdout", ""],
    [OUTPUT_INDEX, mark, other],
    [closedLogName("stdout", 90), "x".repeat(10), other],
    ["stdout", "", other],
  ]);
  const task = new StoredTask();
  await allOf(task.lines(store, [tenancy, { ...tenancy, containerId: other }], {}));
  expect(task.missingBytes).toBe(40 + 90);
});

test("a line of an executor's log that is cut off, or says its time or generation in no way of ours, is a line too", async () => {
  const store = storeOf([
    ["executor.log", `{"time":5,"generation":"2"}\n{"time":"noon"}\n["no object"]\n{"time":"2026-`],
  ]);
  expect(await allOf(executorLines(store, [tenancy], {}))).toEqual([
    { stream: "executor", line: '{"time":5,"generation":"2"}' },
    { stream: "executor", line: '{"time":"noon"}' },
    { stream: "executor", line: '["no object"]' },
    { stream: "executor", line: '{"time":"2026-' },
  ]);
  const whole = ownLines(Readable.from([Buffer.from("one\ntwo\nthree\n")]), "stdout", { pattern: /t/ });
  expect((await allOf(whole)).map(({ line }) => line)).toEqual(["two", "three"]);
});

test("the logs of a task's executors are read container by container, with the time and generation of each line", async () => {
  const line = (at: string, generation: number) => JSON.stringify({ time: `2026-11-27T10:00:0${at}.000Z`, generation });
  const logs = [line("1", 1), "no JSON", line("3", 2)];
  const store = storeOf([
    ["executor.log", `${logs.join("\n")}\n`],
    ["executor.log", `${line("5", 2)}\n`, other],
  ]);
  const tenancies = [tenancy, { ...tenancy, containerId: other }];
  const read = async (filter: Parameters<typeof executorLines>[2]) =>
    (await allOf(executorLines(store, tenancies, filter))).map(({ stream, atMs = 0, generation }) => [
      stream,
      atMs % 60_000,
      generation,
    ]);
  expect(await read({})).toEqual([
    ["executor", 1_000, 1],
    ["executor", 0, undefined],
    ["executor", 3_000, 2],
    ["executor", 5_000, 2],
  ]);
  expect(await read({ generation: 2 })).toHaveLength(2);
  expect(await read({ sinceMs: Date.parse("2026-11-27T10:00:03.000Z") })).toHaveLength(2);
  expect(await read({ pattern: /^no/ })).toEqual([["executor", 0, undefined]]);
});
