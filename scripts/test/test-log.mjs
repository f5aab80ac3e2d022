/**
 * What is known of a run of Jest, also of one that did not come to its end.
 * @param {string} log as TestLogReporter writes it; its last line may be cut off
 * @returns {{ passed: number, failed: number, running: string[], failures: string[], longestMs: number }} `running`: what had begun and
 * was not over, files and tests; `failures`: each failed test with what it said; `longestMs`: of the test that took most
 */
export function readTestLog(log) {
  const running = new Set();
  const failures = [];
  let passed = 0;
  let longestMs = 0;
  for (const line of log.split("\n").slice(0, -1)) {
    const { event, test, messages, durationMs = 0 } = JSON.parse(line);
    if (event === "begun") running.add(test);
    else running.delete(test);
    longestMs = Math.max(longestMs, durationMs);
    if (event === "passed") passed += 1;
    if (event === "failed") failures.push([test, ...messages].join("\n"));
  }
  return { passed, failed: failures.length, running: [...running], failures, longestMs };
}
