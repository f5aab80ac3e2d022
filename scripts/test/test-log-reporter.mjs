import { appendFileSync } from "node:fs";
import { relative } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";

/**
 * The parts of Jest's messages to reporters that are read here.
 * @typedef {{ readonly path: string }} TestFile
 * @typedef {{ readonly ancestorTitles: readonly string[], readonly title: string }} TestCase
 * @typedef {TestCase & { readonly status: string, readonly failureMessages: readonly string[], readonly duration?: number | null }} TestCaseResult
 */

/**
 * A Jest reporter that logs the start and end of each file and each test, one JSON line each, to the file named by TONY_TEST_LOG: Jest
 * only writes its own report at its end, which an aborted phase never reaches. `readTestLog` reads the log.
 */
export default class TestLogReporter {
  /** @param {TestFile} file */
  onTestFileStart({ path }) {
    append({ event: "begun", test: relative(CHECKOUT, path) });
  }

  /** @param {TestFile} file @param {TestCase} test */
  onTestCaseStart({ path }, { ancestorTitles, title }) {
    append({ event: "begun", test: nameOf(path, [...ancestorTitles, title]) });
  }

  /** @param {TestFile} file @param {TestCaseResult} result */
  onTestCaseResult({ path }, { ancestorTitles, title, status, failureMessages, duration }) {
    const test = nameOf(path, [...ancestorTitles, title]);
    append({ event: status, test, messages: failureMessages, durationMs: duration ?? 0 });
  }

  /** @param {TestFile} file */
  onTestFileResult({ path }) {
    append({ event: "over", test: relative(CHECKOUT, path) });
  }
}

/** @param {string} path @param {readonly string[]} titles */
const nameOf = (path, titles) => [relative(CHECKOUT, path), ...titles].join(" › ");

/** @param {{ readonly event: string, readonly test: string, readonly messages?: readonly string[], readonly durationMs?: number }} line */
function append(line) {
  appendFileSync(process.env.TONY_TEST_LOG ?? "/dev/stderr", `${JSON.stringify(line)}\n`);
}
