import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { decodeHistory, earlierEvents, encodeHistoryRecord, type HistoryRecord } from "../../src/history/records.ts";
import { historyEvents } from "../../src/job/history-event.ts";
import { aJobStatus, allSucceeded } from "../client/job-status.ts";
import { jobSpec, role } from "../simulation/job.ts";

const header: HistoryRecord = {
  record: "header",
  historyVersion: 3,
  attempt: 1,
  number: 1,
  atMs: 10,
  applicationId: "application_1_0001",
  user: "ada",
  build: "tony-ts 0.1.0",
  spec: jobSpec([role("worker", 2)]),
};
const failed: HistoryRecord = {
  record: "event",
  attempt: 1,
  number: 2,
  atMs: 20,
  generation: 3,
  task: "worker:0",
  containerId: "c1",
  type: "task-failed",
  class: "program",
  reason: { code: "program-exited", task: "worker:0", host: "n1", exitCode: 1, error: "ValueError: no" },
};
const outcome = { ...allSucceeded, endedAtMs: 30 };
const status = aJobStatus({ state: "succeeded", outcome });
const end: HistoryRecord = { record: "end", attempt: 1, number: 3, atMs: 30, outcome, status };
const lines = [header, failed, end].map(encodeHistoryRecord);

describe("a job's history", () => {
  test("has the events of earlier attempts, without its own and without a last line that was cut off", () => {
    const of = (attempt: number) => encodeHistoryRecord({ ...failed, attempt, atMs: attempt });
    const text = encodeHistoryRecord(header) + of(1) + of(2) + of(3) + of(1).slice(0, 20);
    expect(earlierEvents(text, 3).map(({ atMs }) => atMs)).toEqual([1, 2]);
  });

  test("is read as it was written, each record once, without a last line that was cut off", () => {
    const [first = "", second = "", third = ""] = lines;
    const text = first + second + second + third;
    expect(decodeHistory(text)).toEqual([header, failed, end]);
    const later = { ...header, attempt: 2 };
    expect(decodeHistory(first + second + encodeHistoryRecord(later))).toEqual([header, failed, later]);
    expect(decodeHistory(text.slice(0, -2))).toEqual([header, failed]);
    expect(decodeHistory("")).toEqual([]);
  });

  test.each([
    ["another version", { ...header, historyVersion: 2 }, "historyVersion must be one of 3"],
    ["a newer version", { ...header, historyVersion: 4 }, "a newer tony-ts wrote it, and this one reads 3"],
    ["an event that is not in the schema", { ...failed, type: "task-sang" }, "an unknown type: task-sang"],
    [
      "a reason that is not in the schema",
      { ...failed, reason: { code: "bored" } },
      "reason has an unknown code: bored",
    ],
    [
      "a line that nobody of ours writes",
      { ...failed, task: "x".repeat(33 * 2 ** 20) },
      "more than 33554432 characters",
    ],
    ["a fact of another kind", { ...failed, class: "weather" }, "class must be one of program, infrastructure"],
  ])("is refused where it has %s", (_what, record, message) => {
    const text = `${lines[0] ?? ""}${JSON.stringify(record)}\n`;
    expect(() => decodeHistory(text)).toThrow(`line 2 of the history cannot be read: `);
    expect(() => decodeHistory(text)).toThrow(message);
  });
});

describe("docs/reference/history.md", () => {
  const page = readFileSync("docs/reference/history.md", "utf8");
  const documented = [...page.matchAll(/^\| `([\w-]+)` \| ([^|]*) \|/gm)].map(([, type, facts = ""]) => [
    type,
    [...facts.matchAll(/`(\w+\??)`/g)].map(([, fact]) => fact),
  ]);

  test("names every event, with all its facts, and no other", () => {
    const declared = Object.entries(historyEvents).map(([type, facts]) => [
      type,
      Object.entries(facts).map(([name, kind]) => `${name}${String(kind).endsWith("?") ? "?" : ""}`),
    ]);
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(declared));
  });
});
