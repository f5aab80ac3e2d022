/**
 * The facts about a phase in the table.
 * @typedef {Pick<import("./phase.mjs").Phase, "name" | "what" | "needs" | "prepares" | "everyday" | "turn">} Suite
 * @typedef {import("./measured.mjs").Measured} Measured
 */

/** @type {[string, string, string, string, string]} */
const HEADER = ["suite", "what it proves", "seconds", "MB fetched", "command"];

/**
 * The suites as columns for a terminal.
 * @param {readonly Suite[]} phases
 * @param {Measured} measured
 * @returns {string}
 */
export function suiteColumns(phases, measured) {
  const rows = [HEADER, ...suiteRows(phases, measured)];
  return rows
    .map(
      ([name, what, seconds, megabytes, command]) =>
        `${name.padEnd(22)} ${seconds.padStart(7)} ${megabytes.padStart(10)}  ${command.padEnd(17)} ${what}`,
    )
    .join("\n");
}

/**
 * The same as a Markdown table, for CONTRIBUTING.md.
 * @param {readonly Suite[]} phases
 * @param {Measured} measured
 * @returns {string}
 */
export function suiteMarkdown(phases, measured) {
  const rows = suiteRows(phases, measured).map(([name, what, ...rest]) => [`\`${name}\``, what, ...rest]);
  return [HEADER, HEADER.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const TABLE = /(?<=<!-- suites -->\n\n)[\s\S]*?(?=\n\n<!-- end of suites -->)/;

/**
 * @param {string} page with a table of suites
 * @param {string} table
 * @returns {string} the page with this table
 */
export const withSuites = (page, table) => page.replace(TABLE, table.replaceAll("$", "$$$$"));

/**
 * @param {readonly Suite[]} phases
 * @param {Measured} measured
 * @returns {[name: string, what: string, seconds: string, megabytes: string, command: string][]}
 */
function suiteRows(phases, measured) {
  return phases
    .filter(({ prepares }) => !prepares)
    .map((suite) => [
      suite.name,
      suite.what,
      String(measured[suite.name]?.seconds ?? "–"),
      fetchedFor(suite, phases, measured),
      commandOf(suite),
    ]);
}

/** @param {Suite} suite */
function commandOf({ everyday, turn }) {
  if (everyday) return "npm test";
  return turn === undefined ? "npm run test:all" : "test:all, in turn";
}

/**
 * The megabytes for the suite and everything that it needs, on a machine that has none of that.
 * @param {Suite} suite
 * @param {readonly Suite[]} phases
 * @param {Measured} measured
 */
function fetchedFor(suite, phases, measured) {
  const needed = new Set([suite.name]);
  for (const phase of [...phases].reverse()) {
    if (needed.has(phase.name)) for (const name of phase.needs) needed.add(name);
  }
  const known = [...needed].flatMap((name) => measured[name] ?? []);
  return known.length === 0 ? "–" : String(known.reduce((sum, { megabytes }) => sum + megabytes, 0));
}
