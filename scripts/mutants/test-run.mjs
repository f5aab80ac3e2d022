import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTestLog } from "../test/test-log.mjs";

/** How many lines of a failed run's output are shown. */
const SHOWN_LINES = 15;

const JEST = ["--experimental-vm-modules", "--no-warnings=ExperimentalWarning", "node_modules/jest/bin/jest.js"];

/**
 * The result of a test run.
 * @typedef {object} TestRun
 * @property {boolean} passed
 * @property {readonly string[]} failures the tests or seeds that failed, with their messages
 * @property {boolean} endless whether it was ended from outside, after `limitMs`
 * @property {string} output its last lines
 * @property {number} durationMs of the whole run
 * @property {number} longestMs of the slowest test; 0 for a simulation
 *
 * @typedef {{ readonly testTimeoutMs: number, readonly limitMs: number }} Limits for each test, and for the whole run
 */

/**
 * Runs the tests that must catch a mutant, until the first failure.
 * @param {string} copy of the checkout
 * @param {import("../../test/mutants/mutants.mjs").Mutant} mutant
 * @param {Limits} limits
 * @param {AbortSignal} signal
 * @returns {Promise<TestRun>}
 */
export async function runTests(copy, { caughtBy, file }, { testTimeoutMs, limitMs }, signal) {
  /** @type {import("node:child_process").ExecFileOptions} */
  const options = { cwd: copy, timeout: limitMs, killSignal: "SIGKILL", signal, maxBuffer: 2 ** 26 };
  if ("simulation" in caughtBy) {
    const run = await execute(["scripts/simulate.mjs", "--seeds", String(caughtBy.simulation)], options);
    return { ...run, failures: run.output.match(/^seed \d+ failed.*/gm) ?? [], longestMs: 0 };
  }
  const log = join(copy, "test.log");
  writeFileSync(log, "");
  const args = [...JEST, ...unitTests(copy, caughtBy.unit), "--testTimeout", String(testTimeoutMs)];
  const run = await execute(args, { ...options, env: { ...process.env, TONY_TEST_LOG: log, TONY_CHANGED_FILE: file } });
  const { failures, longestMs } = readTestLog(readFileSync(log, "utf8"));
  return { ...run, failures, longestMs };
}

/** @param {string} copy @param {string} beginning */
function unitTests(copy, beginning) {
  const choice = ["--selectProjects", "unit", "--testPathPatterns", `/test/${beginning}`, "--runInBand"];
  const order = ["--testSequencer", join(copy, "test/support/nearest-first.mjs")];
  // A bug may leave something running that keeps Jest from exiting.
  const end = ["--bail", "--forceExit"];
  const reporters = ["--reporters", "default", "--reporters", join(copy, "scripts/test/test-log-reporter.mjs")];
  return [...choice, ...order, ...end, ...reporters, "--cacheDirectory", join(copy, ".jest")];
}

/**
 * @param {readonly string[]} args
 * @param {import("node:child_process").ExecFileOptions} options
 * @returns {Promise<Pick<TestRun, "passed" | "endless" | "output" | "durationMs">>}
 */
function execute(args, options) {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
      const durationMs = performance.now() - startedAt;
      resolve({ passed: error === null, endless: error?.killed === true, output, durationMs });
    });
  });
}
