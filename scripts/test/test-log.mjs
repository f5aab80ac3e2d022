/**
 * What is known about a Jest run, even one that did not end.
 * @param {string} log written by TestLogReporter; its last line may be incomplete
 * @returns {{ passed: number, failed: number, running: string[], failures: string[], files: Map<string, FileLog>, longestMs: number }}
 * `running`: files and tests that had begun and not ended; `failures`: each failed test with its message; `files`: by name;
 * `longestMs`: of the slowest test
 *
 * @typedef {{ passed: number, failed: number, isOver: boolean }} FileLog of one test file
 */
export function readTestLog(log) {
  const running = new Set();
  const failures = [];
  /** @type {Map<string, FileLog>} */
  const files = new Map();
  let longestMs = 0;
  for (const line of log.split("\n").slice(0, -1)) {
    const { event, test, messages, durationMs = 0 } = JSON.parse(line);
    if (event === "begun") running.add(test);
    else running.delete(test);
    longestMs = Math.max(longestMs, durationMs);
    const [name = ""] = test.split(" › ");
    const file = files.get(name) ?? { passed: 0, failed: 0, isOver: false };
    files.set(name, file);
    if (event === "over") file.isOver = true;
    if (event === "passed") file.passed += 1;
    if (event === "failed") {
      file.failed += 1;
      failures.push([test, ...messages].join("\n"));
    }
  }
  const passed = [...files.values()].reduce((sum, file) => sum + file.passed, 0);
  return { passed, failed: failures.length, running: [...running], failures, files, longestMs };
}
