import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { wordsOf } from "../problem.mjs";
import { plantIn } from "./plant.mjs";
import { runTests } from "./test-run.mjs";

/** Limits without a bug: far more than any test takes, even at the lowest priority during other work. */
const UNCHANGED = { testTimeoutMs: 240_000, limitMs: 1_200_000 };
/** How much a bug may add to a test's usual time, and to the whole run's, before it counts as hanging. */
const PATIENCE_MS = 30_000;

/** @type {Map<string, Promise<import("./test-run.mjs").TestRun>>} by the catching test: each is run once, for all copies */
const unchanged = new Map();

/**
 * Plants the bug, runs its test, and removes the bug. The test must pass without the bug: a test that fails anyway proves nothing.
 * @param {string} copy of the checkout
 * @param {import("../../test/mutants/mutants.mjs").Mutant} mutant
 * @param {AbortSignal} ended
 * @returns {Promise<string | undefined>} undefined when it was caught, else what is wrong
 */
export async function judgeMutant(copy, mutant, ended) {
  const { caughtBy } = mutant;
  const usual = await runUnchanged(copy, mutant, ended);
  if (!usual.passed) return `its test fails without the bug:\n${usual.output}`;
  const planted = plantIn(copy, mutant);
  const problem = planted.problem ?? (await whyNoProgram(planted.mutated));
  if (planted.mutated === undefined || problem !== undefined) return problem;
  const { text, mutated } = planted;
  const path = join(copy, mutant.file);
  await writeFile(path, mutated);
  try {
    return whyNotCaught(await runTests(copy, mutant, limitsFrom(usual), ended), caughtBy);
  } finally {
    await writeFile(path, text);
  }
}

/** @param {string} copy @param {import("../../test/mutants/mutants.mjs").Mutant} mutant @param {AbortSignal} ended */
function runUnchanged(copy, mutant, ended) {
  const name = JSON.stringify(mutant.caughtBy);
  const run = unchanged.get(name) ?? runTests(copy, mutant, UNCHANGED, ended);
  unchanged.set(name, run);
  return run;
}

/** @param {string} mutated @returns {Promise<string | undefined>} why it is not a valid program */
async function whyNoProgram(mutated) {
  try {
    await transform(mutated, { loader: "ts" });
    return undefined;
  } catch (error) {
    return `is no program any more: ${wordsOf(error)}`;
  }
}

/**
 * A test that hangs fails by its own time-out. The limit of the whole run only matters where a bug prevents that: an endless
 * loop.
 * @param {Pick<import("./test-run.mjs").TestRun, "durationMs" | "longestMs">} usual the run without the bug
 * @returns {import("./test-run.mjs").Limits}
 */
export function limitsFrom({ durationMs, longestMs }) {
  const testTimeoutMs = Math.round(longestMs) + PATIENCE_MS;
  return { testTimeoutMs, limitMs: Math.round(durationMs) * 2 + testTimeoutMs + PATIENCE_MS };
}

/**
 * @param {Pick<import("./test-run.mjs").TestRun, "passed" | "failures" | "endless" | "output">} run the run with the
 * bug
 * @param {import("../../test/mutants/mutants.mjs").Catch} caughtBy
 * @returns {string | undefined}
 */
export function whyNotCaught({ passed, failures, endless, output }, caughtBy) {
  const unknownName = failures.join("\n").match(/\w+ is not defined/)?.[0];
  if (unknownName !== undefined) return `is no program any more: ${unknownName}`;
  if (failures.length > 0 || endless) return undefined;
  if (passed) return `survived ${JSON.stringify(caughtBy)}`;
  return `no test failed, but their run did:\n${output}`;
}
