import { describe, expect, test } from "@jest/globals";
import { LogPrinter, type LogPrinterOptions } from "../../../client/logs/log-printer.ts";
import type { OutputLine } from "../../../src/logs/ordered-output.ts";
import { recordedContext } from "../support.ts";

function printed(lines: readonly (readonly [string, OutputLine])[], options: LogPrinterOptions = {}) {
  const { output, out, err } = recordedContext({});
  const printer = new LogPrinter(output, options);
  for (const [task, line] of lines) printer.line(task, line);
  return { out: out.text, err: err.text };
}

test("a task that was started again says so; the AM, which runs on, does not", () => {
  const am = [1, 2, 1].map((generation) => ["am", { stream: "stdout", line: "{}", generation }] as const);
  expect(printed([...am, ["worker:0", { stream: "stdout", line: "epoch 1", generation: 2 }]])).toEqual({
    out: "{}\n{}\n{}\nepoch 1\n",
    err: "── generation 2 ──\n",
  });
});

describe("what a program wrote to stderr", () => {
  const lines = [
    ["worker:0", { stream: "stdout", line: "epoch 1" }],
    ["worker:0", { stream: "stderr", line: "warning" }],
    ["worker:0", { stream: "stdout", line: "epoch 2" }],
  ] as const;

  test("is in its place among the rest", () => {
    expect(printed(lines)).toEqual({ out: "epoch 1\nwarning\nepoch 2\n", err: "" });
  });

  test("is apart where that is wanted", () => {
    expect(printed(lines, { split: true })).toEqual({ out: "epoch 1\nepoch 2\n", err: "warning\n" });
  });
});

describe("lines of the AM and of executors", () => {
  const line = (fields: object) =>
    JSON.stringify({ level: "warn", time: new Date(2026, 10, 21, 14, 2, 11, 38), ...fields });
  const said = line({ event: "task-ended", task: "worker:0", message: "worker:0 ended: failed, exit 1." });

  test("are text for people, which names the task", () => {
    const other = line({ level: "info", event: "checkpoint-carried", task: "worker:0", message: "It is there." });
    expect(
      printed([
        ["am", { stream: "stdout", line: said }],
        ["worker:1", { stream: "executor", line: other }],
        ["am", { stream: "stdout", line: "[GC cut off" }],
      ]).out.split("\n"),
    ).toEqual([
      "2026-11-21 14:02:11.038  warn   worker:0 ended: failed, exit 1.",
      "2026-11-21 14:02:11.038  info   worker:0: It is there.",
      "[GC cut off",
      "",
    ]);
  });

  test("say whose they are about only where neither the log nor the message does", () => {
    const about = (fields: object) => printed([["worker:1", { stream: "executor", line: line(fields) }]]).out;
    const at = "2026-11-21 14:02:11.038  warn ";
    expect(about({ message: "It is there." })).toBe(`${at}  It is there.\n`);
    expect(about({ task: "worker:1", message: "It is there." })).toBe(`${at}  It is there.\n`);
    expect(about({ task: "worker:0", message: "worker:0 is there." })).toBe(`${at}  worker:0 is there.\n`);
  });

  test.each(["time", "level", "message"])("stay as they are where they have no %s", (field) => {
    const odd = line({ message: "It is there.", [field]: undefined });
    expect(printed([["am", { stream: "stdout", line: odd }]]).out).toBe(`${odd}\n`);
  });

  test("are as they are for programs", () => {
    const [event] = printed([["am", { stream: "stdout", line: said }]], { json: true }).out.split("\n");
    expect(JSON.parse(event ?? "")).toMatchObject({ event: "output", task: "am", line: said });
  });
});

test("each task that was started again says so once, with the time where that is known, and by its name among others", () => {
  const { output, out, err } = recordedContext({});
  const printer = new LogPrinter(output);
  printer.several = true;
  const atMs = new Date(2026, 10, 21, 14, 2, 11).getTime();
  for (const task of ["worker:0", "worker:1"])
    for (const generation of [1, 2, 2, 3]) printer.line(task, { stream: "stdout", line: "x", generation, atMs });
  const marks = [2, 3].map((generation) => `── generation ${generation}, 14:02:11 ──\n`);
  expect(err.text).toBe(["worker:0", "worker:1"].flatMap((task) => marks.map((mark) => `${task} | ${mark}`)).join(""));
  expect(out.text).toBe("worker:0 | x\n".repeat(4) + "worker:1 | x\n".repeat(4));
});

test("what is said beside the logs is no part of them, and for programs a line says all that is known of it", () => {
  const { output, out, err } = recordedContext({});
  const printer = new LogPrinter(output, { json: true });
  printer.remark("some are missing");
  printer.line("worker:0", { stream: "stderr", line: "x", generation: 2, atMs: 5 });
  expect(err.text).toBe("some are missing\n");
  expect(JSON.parse(out.text)).toMatchObject({ stream: "stderr", line: "x", generation: 2, atMs: 5 });
});
