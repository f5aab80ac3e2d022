// Compares the coverage of the unit tests, which include the simulation's thousand lives, with test/coverage.json; see USAGE.
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { CHECKOUT } from "../cluster/folders.mjs";
import { Problem, runMain, wordsOf } from "../problem.mjs";
import { compareCoverage, coverageOfRooms } from "./coverage-of-rooms.mjs";

const MEASURED = join(CHECKOUT, "coverage", "coverage-summary.json");
const EXPECTED = join(CHECKOUT, "test", "coverage.json");

const USAGE = `Lines and branches that the unit tests cover, which may not become fewer.

  npm run coverage               runs them and compares with test/coverage.json
  npm run coverage -- --write    writes what they cover into that file`;

await runMain(async () => {
  const { write, help } = parseCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const measured = coverageOfRooms(await readSummary());
  const expected = JSON.parse(await readFile(EXPECTED, "utf8"));
  if (write) {
    await writeFile(EXPECTED, `${JSON.stringify({ ...expected, ...measured }, null, 2)}\n`);
    console.log(`✓ ${relative(CHECKOUT, EXPECTED)} is written`);
    return 0;
  }
  const { lines, fell } = compareCoverage(measured, expected);
  console.log(lines.join("\n"));
  return fell ? 1 : 0;
});

function parseCommandLine() {
  try {
    return parseArgs({ options: { write: { type: "boolean" }, help: { type: "boolean", short: "h" } } }).values;
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** Jest's json-summary, with paths relative to the checkout's root. */
async function readSummary() {
  const text = await readFile(MEASURED, "utf8").catch((cause) => {
    throw new Problem("Nothing is measured yet: npm run coverage", { exitCode: 2, cause });
  });
  const { total: _total, ...files } = JSON.parse(text);
  return Object.fromEntries(Object.entries(files).map(([file, counts]) => [relative(CHECKOUT, file), counts]));
}
