// Plants one small bug after another into a copy of the checkout, and runs the test that must notice it: `npm run mutants`.
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { MUTANTS } from "../test/mutants/mutants.mjs";
import { CHECKOUT } from "./cluster/folders.mjs";
import { withCopies } from "./mutants/copies.mjs";
import { judgeMutant } from "./mutants/judge.mjs";
import { plantIn } from "./mutants/plant.mjs";
import { Problem, runMain, wordsOf } from "./problem.mjs";
import { inTurn } from "./turn.mjs";

const USAGE = `Plants small realistic bugs, each in a copy of this checkout, and runs the test that must fail because of it.

  npm run mutants                       all of them
  npm run mutants -- --only TEXT        those whose description or file has the text
  npm run mutants -- --rotate 10        so many of them, others each day
  npm run mutants -- --copies 1         how many at once; as many as there are cores when nothing is said
  npm run mutants -- --list             what they are; tells of those whose place is gone`;

await runMain(async () => {
  const { values } = parseCommandLine();
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  const chosen = choose(values);
  if (values.list) {
    return list(chosen);
  }
  return await run(chosen, wholeNumber("copies", values.copies));
});

function parseCommandLine() {
  try {
    return parseArgs({
      options: {
        only: { type: "string" },
        rotate: { type: "string" },
        copies: { type: "string", default: String(availableParallelism()) },
        list: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** @param {{ only?: string, rotate?: string }} values @returns {readonly import("../test/mutants/mutants.mjs").Mutant[]} */
function choose({ only, rotate }) {
  const named = MUTANTS.filter(({ bug, file }) => only === undefined || bug.includes(only) || file.includes(only));
  if (named.length === 0) throw new Problem(`--only ${only}: no mutant has that text; see --list`, { exitCode: 2 });
  if (rotate === undefined) return named;
  return inTurn(named, wholeNumber("rotate", rotate));
}

/** @param {readonly import("../test/mutants/mutants.mjs").Mutant[]} mutants */
function list(mutants) {
  const problems = mutants.map((mutant) => plantIn(CHECKOUT, mutant).problem);
  for (const [index, { file, bug }] of mutants.entries()) {
    const problem = problems[index];
    console.log(`${file}: ${bug}${problem === undefined ? "" : `\n  ✗ ${problem}`}`);
  }
  return problems.some((problem) => problem !== undefined) ? 1 : 0;
}

/** @param {string} option @param {string} text */
function wholeNumber(option, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1) return number;
  throw new Problem(`--${option} ${text}: a whole number from 1`, { exitCode: 2 });
}

/**
 * @param {readonly import("../test/mutants/mutants.mjs").Mutant[]} mutants
 * @param {number} copies of the checkout, each with one mutant at a time
 */
async function run(mutants, copies) {
  const waiting = [...mutants];
  const totals = { caught: 0, failed: 0 };
  await withCopies(Math.min(copies, mutants.length), async (copy, ended) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const startedAt = performance.now();
      const problem = await judgeMutant(copy, mutant, ended);
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(4);
      totals[problem === undefined ? "caught" : "failed"]++;
      const words = problem === undefined ? "" : `\n    ${problem.trimEnd().replaceAll("\n", "\n    ")}`;
      console.log(`${problem === undefined ? "✓" : "✗"} ${seconds} s  ${mutant.file}: ${mutant.bug}${words}`);
    }
  });
  console.log(`${totals.caught} passed, ${totals.failed} failed`);
  return totals.failed === 0 ? 0 : 1;
}
