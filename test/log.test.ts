import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { LogLevel } from "../src/job/spec.ts";
import { openLog } from "../src/log.ts";

let folder: string;
let descriptor: number;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-log-"));
  descriptor = openSync(path.join(folder, "log"), "a");
});

afterEach(() => {
  closeSync(descriptor);
  rmSync(folder, { recursive: true });
});

function lines(): string[] {
  return readFileSync(path.join(folder, "log"), "utf8").trimEnd().split("\n");
}

it("writes one JSON object a line, at once, and leaves out what has no value", () => {
  openLog("info", descriptor).info("started", "It runs.", { pid: 17, node: undefined });
  const [line = ""] = lines();
  const time = /"time":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/.exec(line)?.[1];
  expect(line).toBe(`{"level":"info","time":"${time}","event":"started","pid":17,"message":"It runs."}`);
});

it.each<[LogLevel, string[]]>([
  ["debug", ["debug", "info", "warn", "error"]],
  ["info", ["info", "warn", "error"]],
  ["warn", ["warn", "error"]],
  ["error", ["error"]],
])("at level %s writes %j", (level, written) => {
  const log = openLog(level, descriptor);
  log.debug("a", "A.");
  log.info("b", "B.");
  log.warn("c", "C.");
  log.error("d", "D.");
  expect(lines().map((line) => JSON.parse(line).level)).toEqual(written);
});

it("puts the fields of its own into every line, those of the line itself first", () => {
  const log = openLog("info", descriptor).with({ task: "worker:0" }).with({ generation: 1 });
  log.info("a", "A.");
  log.info("b", "B.", { generation: 2 });
  expect(lines().map((line) => JSON.parse(line))).toMatchObject([
    { task: "worker:0", generation: 1, event: "a" },
    { task: "worker:0", generation: 2, event: "b" },
  ]);
});

it("goes on when a line cannot be written", () => {
  const readOnly = openSync(path.join(folder, "log"), "r");
  expect(() => openLog("info", readOnly).info("a", "A.")).not.toThrow();
  closeSync(readOnly);
});
