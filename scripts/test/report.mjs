import { stripVTControlCharacters } from "node:util";

/**
 * @typedef {import("./phase.mjs").Phase} Phase
 * @typedef {import("./run-phase.mjs").PhaseResult} PhaseResult
 */

/**
 * The output when a phase has ended: one line, what it reports, and after a failure its command and whole output.
 * @param {Pick<Phase, "name" | "limitSeconds" | "command" | "environment" | "tells">} phase
 * @param {Pick<PhaseResult, "passed" | "failed" | "seconds" | "output" | "unsteady">} result
 * @returns {string}
 */
export function phaseLines(
  { name, limitSeconds, command, environment = {}, tells },
  { passed, failed, seconds, output, unsteady = [] },
) {
  const again = unsteady.length === 0 ? "" : `, ${unsteady.length} of them not at first`;
  const counts = failed === 0 ? `${passed} passed${again}` : `${passed} passed, ${failed} failed`;
  const line = `${failed === 0 ? "✓" : "✗"} ${name.padEnd(22)} ${wholeSeconds(seconds)} of ${limitSeconds} s   ${counts}`;
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const words = [
    ...(failed === 0 ? [] : [`$ ${[...variables, ...command].join(" ")}`]),
    ...(failed > 0 || tells || unsteady.length > 0 ? [output.trimEnd()] : []),
  ];
  return [line, ...words.map((text) => text.replace(/^/gm, "  | "))].join("\n");
}

/**
 * The seconds of each phase, in the order of their starts.
 * @param {readonly { phase: Pick<Phase, "name">, beganSeconds: number, result: Pick<PhaseResult, "failed" | "seconds"> }[]} ended
 * @param {number} seconds of the whole run
 * @returns {string}
 */
export function secondsTable(ended, seconds) {
  const rows = [...ended]
    .sort((a, b) => a.beganSeconds - b.beganSeconds)
    .map(({ phase, beganSeconds, result }) => {
      const state = result.failed === 0 ? "" : "   failed";
      return `${phase.name.padEnd(22)} ${wholeSeconds(beganSeconds)} ${wholeSeconds(result.seconds)}${state}`;
    });
  return [
    `${"phase".padEnd(22)} ${"began".padStart(8)} ${"took".padStart(8)}`,
    ...rows,
    `${"all of it".padEnd(22)} ${"".padStart(8)} ${wholeSeconds(seconds)}`,
  ].join("\n");
}

/**
 * The failures once more in short, for the end of the output: a long log is usually cut at its beginning.
 * @param {readonly { phase: Pick<Phase, "name">, result: Pick<PhaseResult, "failed" | "failures" | "output"> }[]} ended
 * @returns {string} empty where nothing failed
 */
export function failureSummary(ended) {
  const lines = ended
    .filter(({ result }) => result.failed > 0)
    .flatMap(({ phase, result: { failures = [], output } }) => {
      const texts = failures.length > 0 ? failures : [output.trimEnd().split("\n").slice(-SUMMARY_LINES).join("\n")];
      return texts.map((text) => `✗ ${phase.name}: ${shortened(text)}`);
    });
  return lines.join("\n");
}

/**
 * The tests that passed only when their file ran again: each shows a defect in the test or in the tested code.
 * @param {readonly { phase: Pick<Phase, "name">, result: Pick<PhaseResult, "unsteady"> }[]} ended
 * @returns {string} empty where there is none
 */
export function unsteadySummary(ended) {
  return ended
    .flatMap(({ phase, result: { unsteady = [] } }) =>
      unsteady.map((text) => `~ ${phase.name}: passed when it ran again: ${shortened(text)}`),
    )
    .join("\n");
}

/**
 * The numbers in `N passed, N failed`. A phase that only prepares counts if no other phase needed it; otherwise those that needed
 * it count, each once.
 * @param {readonly { phase: Pick<Phase, "name" | "needs" | "prepares">, result: Pick<PhaseResult, "passed" | "failed"> }[]} ended
 * @returns {{ passed: number, failed: number }}
 */
export function totalOf(ended) {
  const needed = new Set(ended.flatMap(({ phase }) => phase.needs));
  const counted = ended.filter(({ phase }) => !phase.prepares || !needed.has(phase.name));
  /** @param {"passed" | "failed"} kind */
  const sum = (kind) => counted.reduce((total, { result }) => total + result[kind], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

/** Jest's expectation, the received value, and the line of the test fit into this. */
const SUMMARY_LINES = 16;

/** @param {string} text */
function shortened(text) {
  const lines = stripVTControlCharacters(text)
    .split("\n")
    .filter((line) => line.trim() !== "");
  return lines.slice(0, SUMMARY_LINES).join("\n  | ");
}

/** @param {number} seconds */
const wholeSeconds = (seconds) => `${seconds.toFixed(0).padStart(6)} s`;
