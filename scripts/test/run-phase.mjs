import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";
import { readTestLog } from "./test-log.mjs";

const REPORTER = join(CHECKOUT, "scripts", "test", "test-log-reporter.mjs");

/**
 * @typedef {object} PhaseResult
 * @property {number} passed tests where the phase counts some, else the phase itself
 * @property {number} failed
 * @property {number} seconds
 * @property {string} output
 * @property {number} [receivedBytes] that came to the machine while it ran
 * @property {string} [notRun] why it never began
 * @property {readonly TestResult[]} [tests] of a phase that ran Jest to its end
 * @property {readonly string[]} [failures] of a phase that ran Jest: each failed test with what it said
 * @property {readonly string[]} [unsteady] each test that failed first and passed when its file ran again, with what it said first
 *
 * @typedef {{ title: string, passed: boolean, seconds: number }} TestResult
 *
 * What Jest reports with --json, as far as it is read here.
 * @typedef {{ title: string, status: string, duration: number }} Assertion
 * @typedef {object} JestReport
 * @property {number} [numPassedTests]
 * @property {number} [numFailedTests]
 * @property {number} [numPendingTests]
 * @property {number} [numTodoTests]
 * @property {number} [numRuntimeErrorTestSuites]
 * @property {readonly { name: string, status: string, assertionResults: readonly Assertion[] }[]} [testResults] of each file
 */

/** More files than these do not fail by chance. */
const MOST_FILES_AGAIN = 2;

/**
 * Runs one phase to its end or to its limit. Of a phase of Jest, a file or two that failed run once more, and what passes then is told
 * as unsteady: one test in ten thousand that depends on chance hides nothing that way, and keeps nothing else from being used.
 * @param {import("./phase.mjs").Phase} phase
 * @param {AbortSignal} [signal] ends it at once
 * @returns {Promise<PhaseResult>}
 */
export async function runPhase(phase, signal) {
  const first = await runOnce(phase, signal);
  const files = failedFiles(first.report);
  if (files.length === 0 || files.length > MOST_FILES_AGAIN || signal?.aborted) return first.result;
  const limitSeconds = Math.round(phase.limitSeconds - first.result.seconds);
  const options = ["--coverage=false", "--runTestsByPath", ...files];
  const second = await runOnce({ ...phase, command: [...phase.command, ...options], limitSeconds }, signal);
  return together(first, second, files);
}

/**
 * @typedef {{ result: PhaseResult, report: JestReport }} Run
 * @param {import("./phase.mjs").Phase} phase
 * @param {AbortSignal} [signal]
 * @returns {Promise<Run>} with an empty report where Jest wrote none
 */
async function runOnce(phase, signal) {
  const folder = await mkdtemp(join(tmpdir(), "tony-ts-phase-"));
  const reportFile = join(folder, "report.json");
  const logFile = join(folder, "tests.log");
  const started = performance.now();
  try {
    const { code, output, timedOut } = await runCommand(
      phase.jest ? withReports(phase, reportFile, logFile) : phase,
      signal,
    );
    const seconds = (performance.now() - started) / 1000;
    if (timedOut) {
      const { lines, ...rest } = cutOff(phase, await readFile(logFile, "utf8").catch(() => ""));
      return { result: { ...rest, seconds, output: [output, ...lines].join("\n") }, report: {} };
    }
    if (!phase.jest) {
      return { result: { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, seconds, output }, report: {} };
    }
    const report = JSON.parse(await readFile(reportFile, "utf8").catch(() => "{}"));
    const { failures } = readTestLog(await readFile(logFile, "utf8").catch(() => ""));
    return { result: { ...countTests(report, code), seconds, output, tests: testsOf(report), failures }, report };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {JestReport} report @returns {string[]} the files of tests that did not pass whole */
const failedFiles = ({ testResults = [] }) =>
  testResults.filter(({ status }) => status === "failed").map(({ name }) => name);

/**
 * What two runs say of a phase, of which the second had the files alone that failed in the first.
 * @param {Run} first
 * @param {Run} second
 * @param {readonly string[]} files
 * @returns {PhaseResult}
 */
function together(first, second, files) {
  const elsewhere = (first.report.testResults ?? []).filter(({ name }) => !files.includes(name));
  const passedElsewhere = testsOf({ testResults: elsewhere }).filter(({ passed }) => passed).length;
  const { passed, failed, seconds, output, failures = [] } = second.result;
  const failedFirst = first.result.failures ?? [];
  return {
    ...first.result,
    passed: passedElsewhere + passed,
    failed,
    seconds: first.result.seconds + seconds,
    output: `${first.result.output}\nonce more, what failed:\n${output}`,
    failures,
    ...(failed === 0 ? { unsteady: failedFirst.length > 0 ? failedFirst : files } : {}),
  };
}

/**
 * Jest's own report for its end, and a log of what happens until then.
 * @param {import("./phase.mjs").Phase} phase
 * @param {string} reportFile
 * @param {string} logFile
 */
function withReports(phase, reportFile, logFile) {
  const options = ["--json", `--outputFile=${reportFile}`, "--reporters=default", `--reporters=${REPORTER}`];
  return {
    ...phase,
    command: [...phase.command, ...options],
    environment: { ...phase.environment, TONY_TEST_LOG: logFile },
  };
}

/**
 * A breach of the limit is a failure of its own; what was known when it happened is told.
 * @param {import("./phase.mjs").Phase} phase
 * @param {string} log
 */
function cutOff({ limitSeconds, jest }, log) {
  const { passed, failed, running, failures } = readTestLog(log);
  const until = jest ? `, when ${passed} tests had passed and ${failed} had failed` : "";
  return {
    passed,
    failed: failed + 1,
    failures,
    lines: [
      ...failures,
      `ended: over its limit of ${limitSeconds} s${until}`,
      ...running.map((test) => `  was running: ${test}`),
    ],
  };
}

/**
 * A suite that could not run, a test that was skipped, and a run without any test, are failures too.
 * @param {JestReport} report
 * @param {number | null} code
 */
function countTests(report, code) {
  const passed = report.numPassedTests ?? 0;
  const notRun = (report.numRuntimeErrorTestSuites ?? 0) + (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0);
  const failed = (report.numFailedTests ?? 0) + notRun;
  const silentFailure = failed === 0 && (code !== 0 || passed === 0) ? 1 : 0;
  return { passed, failed: failed + silentFailure };
}

/** @param {JestReport} report @returns {TestResult[]} */
function testsOf({ testResults = [] }) {
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests.map(({ title, status, duration }) => ({ title, passed: status === "passed", seconds: duration / 1000 }));
}

/**
 * The command runs in a process group of its own, so that a breach of the limit ends all of it.
 * @param {import("./phase.mjs").Phase} phase
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ code: number | null, output: string, timedOut: boolean }>}
 */
function runCommand({ command, environment, limitSeconds }, signal) {
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program === "node" ? process.execPath : program, args, {
      cwd: CHECKOUT,
      env: { ...process.env, ...environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    const endGroup = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    signal?.addEventListener("abort", endGroup);
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup();
    }, limitSeconds * 1000);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", endGroup);
      // A daemon left behind may hold the pipes open: what it prints later is not waited for.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ code, output, timedOut });
      }, 100);
    });
  });
}
