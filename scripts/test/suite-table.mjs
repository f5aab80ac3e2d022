/**
 * The suites, a line each: what it proves and which command runs it.
 * @param {readonly import("./phase.mjs").Phase[]} phases
 * @returns {string}
 */
export function suiteTable(phases) {
  const suites = phases.filter(({ prepares }) => !prepares);
  return [
    ["suite", "runs in", "what it proves"],
    ...suites.map(({ name, everyday, what }) => [name, everyday ? "npm test" : "test:all", what]),
  ]
    .map(([name, command, what]) => `${name.padEnd(22)} ${command.padEnd(9)} ${what}`)
    .join("\n");
}
