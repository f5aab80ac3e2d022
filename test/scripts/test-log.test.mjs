import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readTestLog } from "../../scripts/test/test-log.mjs";
import TestLogReporter from "../../scripts/test/test-log-reporter.mjs";

describe("the log of a run of tests", () => {
  const file = { path: join(import.meta.dirname, "some.test.ts") };
  const titles = (/** @type {string} */ title) => ({ ancestorTitles: ["a node"], title });
  /** @type {string} */
  let folder;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "tony-test-log-"));
    process.env.TONY_TEST_LOG = join(folder, "log");
  });
  afterEach(() => {
    delete process.env.TONY_TEST_LOG;
    rmSync(folder, { recursive: true });
  });
  const logOf = (/** @type {(reporter: TestLogReporter) => void} */ tell) => {
    tell(new TestLogReporter());
    return readFileSync(join(folder, "log"), "utf8");
  };

  test("tells of a run that was cut off what had passed, what had failed and why, and what was running", () => {
    const log = logOf((reporter) => {
      reporter.onTestFileStart(file);
      for (const { title, status, duration } of [
        { title: "comes", status: "passed", duration: 40 },
        { title: "goes", status: "failed", duration: 30 },
      ]) {
        reporter.onTestCaseStart(file, titles(title));
        reporter.onTestCaseResult(file, { ...titles(title), status, duration, failureMessages: ["it stayed"] });
      }
      reporter.onTestCaseStart(file, titles("is lost"));
    });
    expect(readTestLog(log)).toEqual({
      passed: 1,
      failed: 1,
      running: ["test/scripts/some.test.ts", "test/scripts/some.test.ts › a node › is lost"],
      failures: ["test/scripts/some.test.ts › a node › goes\nit stayed"],
      files: new Map([["test/scripts/some.test.ts", { passed: 1, failed: 1, isOver: false }]]),
      longestMs: 40,
    });
  });

  test("knows nothing of a run that never began, and passes over a line that was cut off", () => {
    expect(readTestLog("")).toEqual({
      passed: 0,
      failed: 0,
      running: [],
      failures: [],
      files: new Map(),
      longestMs: 0,
    });
    const log = logOf((reporter) => {
      reporter.onTestFileStart(file);
      reporter.onTestFileResult(file);
    });
    const { running, files } = readTestLog(`${log}{"event":"pas`);
    expect(running).toEqual([]);
    expect([...files.values()]).toEqual([{ passed: 0, failed: 0, isOver: true }]);
  });
});
