/**
 * A table of what passed where, as Markdown: a row for each test, a column for each cluster.
 * @param {readonly { name: string, tests: readonly import("./run-phase.mjs").TestResult[] }[]} clusters in the order of the columns; one
 *   that could not be started has no tests
 * @returns {string}
 */
export function matrixTable(clusters) {
  const titles = [...new Set(clusters.flatMap(({ tests }) => tests.map(({ title }) => title)))];
  const rows = titles.map((title) => [title, ...clusters.map(({ tests }) => cell(tests, title))]);
  const lines = [["", ...clusters.map(({ name }) => name)], ["---", ...clusters.map(() => "---")], ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** @param {readonly import("./run-phase.mjs").TestResult[]} tests @param {string} title */
function cell(tests, title) {
  const test = tests.find((candidate) => candidate.title === title);
  if (test === undefined) return "–";
  return `${test.passed ? "✓" : "✗"} ${test.seconds.toFixed(1)} s`;
}
