import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";

/** A bug that makes its test hang is noticed too, but by the clock. */
const LIMIT_MS = 240_000;
/** Of the output of a test that fails without the bug. */
const SHOWN_LINES = 15;

const unchanged = new Map();

/**
 * Whether the mutant's test passes without the bug: a test that fails anyway notices nothing.
 * @param {string} copy of the checkout
 * @param {import("../../test/mutants/mutant.mjs").Mutant} mutant
 * @returns {Promise<string | undefined>} why not
 */
export function passesUnchanged(copy, { caughtBy }) {
  const name = JSON.stringify(caughtBy);
  if (!unchanged.has(name)) {
    unchanged.set(
      name,
      run(copy, caughtBy).then(({ failed, output }) =>
        failed ? `its test fails without the bug:\n${output}` : undefined,
      ),
    );
  }
  return unchanged.get(name);
}

/**
 * Plants the bug, runs its test, and takes the bug out again.
 * @param {string} copy of the checkout
 * @param {import("../../test/mutants/mutant.mjs").Mutant} mutant
 * @returns {Promise<string | undefined>} undefined when it was caught, else what is wrong
 */
export async function judgeMutant(copy, { file, from, to, caughtBy }) {
  const path = join(copy, file);
  const text = await readFile(path, "utf8");
  const pieces = text.split(from);
  if (pieces.length !== 2) return `stands in ${file} ${pieces.length - 1} times instead of once: ${from}`;
  const mutated = pieces.join(to);
  try {
    await transform(mutated, { loader: "ts" });
  } catch (error) {
    return `is no program any more: ${error.message}`;
  }
  await writeFile(path, mutated);
  try {
    const { failed } = await run(copy, caughtBy);
    return failed ? undefined : `survived ${JSON.stringify(caughtBy)}`;
  } finally {
    await writeFile(path, text);
  }
}

/** @returns {Promise<{ failed: boolean, output: string }>} */
function run(copy, caughtBy) {
  const args =
    "unit" in caughtBy ? unit(caughtBy.unit) : ["scripts/simulate.mjs", "--seeds", String(caughtBy.simulation)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd: copy, timeout: LIMIT_MS, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      const lines = `${stdout}${stderr}`.trimEnd().split("\n").slice(-SHOWN_LINES);
      resolve({ failed: error !== null, output: lines.join("\n") });
    });
  });
}

function unit(beginning) {
  const jest = ["--experimental-vm-modules", "--no-warnings=ExperimentalWarning", "node_modules/jest/bin/jest.js"];
  return [...jest, "--selectProjects", "unit", "--runInBand", "--bail", "--testPathPatterns", `/test/${beginning}`];
}
