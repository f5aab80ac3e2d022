import { spawn, spawnSync } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { constants, setPriority, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";
import { readTestLog } from "./test-log.mjs";

const REPORTER = join(CHECKOUT, "scripts", "test", "test-log-reporter.mjs");

/**
 * @typedef {object} PhaseResult
 * @property {number} passed the number of tests, if the phase counts them, else the phase itself
 * @property {number} failed
 * @property {number} seconds
 * @property {string} output
 * @property {number} [receivedBytes] received by the machine while it ran
 * @property {string} [notRun] why it did not begin
 * @property {readonly TestResult[]} [tests] for a phase that ran Jest to its end
 * @property {readonly string[]} [failures] for a phase that ran Jest: each failed test with its message
 * @property {readonly string[]} [unsteady] each test that failed first and passed when its file ran again, with its first message
 *
 * @typedef {{ title: string, passed: boolean, seconds: number }} TestResult
 *
 * The parts of Jest's --json report that are read here.
 * @typedef {{ title: string, status: string, duration: number }} Assertion
 * @typedef {object} JestReport
 * @property {number} [numPassedTests]
 * @property {number} [numFailedTests]
 * @property {number} [numPendingTests]
 * @property {number} [numTodoTests]
 * @property {number} [numRuntimeErrorTestSuites]
 * @property {readonly { name: string, status: string, assertionResults: readonly Assertion[] }[]} [testResults] of each file
 */

/** If more files than this fail, that is no coincidence. */
const MOST_FILES_AGAIN = 2;

/**
 * Runs one phase to its end or to its limit. In a phase that runs Jest, one or two failed files run once more, and so do the remaining
 * files when the phase hangs; tests that pass then are reported as unsteady: so one test in ten thousand that depends on chance hides
 * nothing, and blocks nothing else.
 * @param {import("./phase.mjs").Phase} phase
 * @param {AbortSignal} [signal] aborts it at once
 * @returns {Promise<PhaseResult>}
 */
export async function runPhase(phase, signal) {
  const first = await runOnce(phase, signal);
  if (first.again.length === 0 || signal?.aborted) return first.result;
  const limitSeconds = Math.round(phase.limitSeconds - first.result.seconds);
  const options = ["--coverage=false", "--runTestsByPath", ...first.again];
  const second = await runOnce({ ...phase, command: [...phase.command, ...options], limitSeconds }, signal);
  return together(first, second.result);
}

/**
 * @typedef {object} Run
 * @property {PhaseResult} result
 * @property {readonly string[]} again the files to run once more
 * @property {number} passedElsewhere tests that passed in the other files
 *
 * @param {import("./phase.mjs").Phase} phase
 * @param {AbortSignal} [signal]
 * @returns {Promise<Run>}
 */
async function runOnce(phase, signal) {
  const folder = await mkdtemp(join(tmpdir(), "tony-ts-phase-"));
  const reportFile = join(folder, "report.json");
  const logFile = join(folder, "tests.log");
  const started = performance.now();
  try {
    const command = phase.jest ? withReports(phase, reportFile, logFile) : phase;
    const { code, output, ended } = await runCommand(command, { logFile, reportFile }, signal);
    const seconds = (performance.now() - started) / 1000;
    const log = readTestLog(await readFile(logFile, "utf8").catch(() => ""));
    if (ended !== undefined) {
      const { lines, ...rest } = cutOff(phase, ended.why, log);
      const result = { ...rest, seconds, output: [output, ...lines, ...ended.threads].join("\n") };
      return { result, ...(ended.stoodStill ? await unfinished(phase, log.files, signal) : NOTHING_AGAIN) };
    }
    if (!phase.jest) {
      const counts = code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
      return { result: { ...counts, seconds, output }, ...NOTHING_AGAIN };
    }
    const report = JSON.parse(await readFile(reportFile, "utf8").catch(() => "{}"));
    const result = { ...countTests(report, code), seconds, output, tests: testsOf(report), failures: log.failures };
    return { result, ...failedFiles(report) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @type {Omit<Run, "result">} */
const NOTHING_AGAIN = { again: [], passedElsewhere: 0 };

/** The files that did not pass completely, unless there are too many. @param {JestReport} report @returns {Omit<Run, "result">} */
function failedFiles({ testResults = [] }) {
  const again = testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
  if (again.length > MOST_FILES_AGAIN) return NOTHING_AGAIN;
  const elsewhere = testResults.filter(({ name }) => !again.includes(name));
  return { again, passedElsewhere: testsOf({ testResults: elsewhere }).filter(({ passed }) => passed).length };
}

/**
 * The files of a phase that did not end, or failed, unless too many failed.
 * @param {import("./phase.mjs").Phase} phase
 * @param {ReadonlyMap<string, import("./test-log.mjs").FileLog>} files
 * @param {AbortSignal} [signal]
 * @returns {Promise<Omit<Run, "result">>}
 */
async function unfinished(phase, files, signal) {
  const passed = new Map([...files].filter(([, { isOver, failed }]) => isOver && failed === 0));
  if ([...files.values()].filter(({ failed }) => failed > 0).length > MOST_FILES_AGAIN) return NOTHING_AGAIN;
  const { output } = await runCommand({ ...phase, command: [...phase.command, "--listTests"] }, {}, signal);
  const again = output.split("\n").filter((line) => line.startsWith("/") && !passed.has(relative(CHECKOUT, line)));
  return { again, passedElsewhere: [...passed.values()].reduce((sum, file) => sum + file.passed, 0) };
}

/**
 * The combined result of two runs of a phase, the second of which only contained what had failed or was left in the
 * first.
 * @param {Run} first
 * @param {PhaseResult} second
 * @returns {PhaseResult}
 */
function together({ result, again, passedElsewhere }, { passed, failed, seconds, output, failures = [] }) {
  const failedFirst = result.failures ?? [];
  return {
    ...result,
    passed: passedElsewhere + passed,
    failed,
    seconds: result.seconds + seconds,
    output: `${result.output}\nonce more, what had not passed:\n${output}`,
    failures,
    ...(failed === 0 ? { unsteady: failedFirst.length > 0 ? failedFirst : again } : {}),
  };
}

/**
 * Adds Jest's own report, which is written at the end, and a log of what happens until then.
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
 * Being ended counts as a failure; reports what was known at that time.
 * @param {import("./phase.mjs").Phase} phase
 * @param {string} why
 * @param {ReturnType<typeof readTestLog>} log
 */
function cutOff({ jest }, why, { passed, failed, running, failures }) {
  const until = jest ? `, when ${passed} tests had passed and ${failed} had failed` : "";
  const ended = [`ended: ${why}${until}`, ...running.map((test) => `  was running: ${test}`)];
  return { passed, failed: failed + 1, failures: [...failures, ended.join("\n")], lines: [...failures, ...ended] };
}

/**
 * Suites that could not run, skipped tests, and runs without any test are failures too.
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
 * The command runs in a process group of its own, so that all of it is ended at the limit.
 * @param {import("./phase.mjs").Phase} phase
 * @param {{ logFile?: string, reportFile?: string }} files Jest's files: `logFile` grows with each test, `reportFile` is written at the
 * end
 * @param {AbortSignal} [signal]
 * @returns {Promise<{ code: number | null, output: string, ended?: Cut }>} `ended` if it did not end by itself
 *
 * @typedef {{ readonly why: string, readonly stoodStill: boolean, readonly threads: readonly string[] }} Cut `threads`: where they were
 */
function runCommand(phase, { logFile, reportFile }, signal) {
  const { command, environment, limitSeconds, background } = phase;
  const { silentSeconds = Number.POSITIVE_INFINITY, exitSeconds = EXIT_SECONDS } = phase;
  const [program = "", ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program === "node" ? process.execPath : program, args, {
      cwd: CHECKOUT,
      env: { ...process.env, ...environment },
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (background && child.pid !== undefined) yieldToOthers(child.pid);
    const began = Date.now();
    let output = "";
    /** @type {Cut | undefined} */
    let ended;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    const endGroup = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    /** @param {string} why @param {boolean} stoodStill */
    const cut = (why, stoodStill) => {
      ended ??= { why, stoodStill, threads: stoodStill && child.pid !== undefined ? threadsOf(child.pid) : [] };
      endGroup();
    };
    signal?.addEventListener("abort", endGroup);
    const timer = setTimeout(() => cut(`over its limit of ${limitSeconds} s`, false), limitSeconds * 1000);
    const watch = setInterval(() => {
      const overMs = writtenMs(reportFile);
      const lastMs = Math.max(began, writtenMs(logFile) ?? 0);
      if (overMs !== undefined && Date.now() - overMs > exitSeconds * 1000) {
        output += `ended: it had not exited ${exitSeconds} s after its tests\n`;
        endGroup();
      } else if (Date.now() - lastMs > silentSeconds * 1000) cut(`no test began or ended for ${silentSeconds} s`, true);
    }, WATCH_MS);
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener("abort", endGroup);
      // A remaining daemon may keep the pipes open: its later output is not awaited.
      setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
        resolve({ code, output, ...(ended === undefined ? {} : { ended }) });
      }, 100);
    });
  });
}

const WATCH_MS = 500;

/** An open handle of a test may keep Jest from exiting: then it is ended, and fails by its exit code if no test failed. */
const EXIT_SECONDS = 20;

/** @param {string | undefined} file */
const writtenMs = (file) => (file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.mtimeMs);

/**
 * Gives a session leader the lowest priority. Where Linux groups processes by session (sched(7), autogroup), a process's own priority only
 * counts within its session.
 * @param {number} pid
 */
function yieldToOthers(pid) {
  const lowest = constants.priority.PRIORITY_LOW;
  try {
    setPriority(pid, lowest);
    writeFileSync(`/proc/${pid}/autogroup`, String(lowest));
  } catch {
    // This kernel has no such groups, or the process is gone.
  }
}

/** Where the threads of a process and of its children are in the kernel. @param {number} pid @returns {string[]} */
function threadsOf(pid) {
  const { stdout } = spawnSync("ps", ["-L", "-o", "pid,tid,stat,wchan:24,pcpu,rss,comm", "-g", String(pid)], {
    encoding: "utf8",
  });
  return stdout.trimEnd().split("\n");
}
