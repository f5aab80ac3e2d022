// Runs the core against the model of a cluster; see USAGE.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { Problem, runMain, wordsOf } from "./problem.mjs";

/** For one in this many seeds, two jobs also compete for a cluster: such a pair takes as long as twenty lives. */
const SEEDS_FOR_RIVALS = 100;

/**
 * test/simulation.
 * @typedef {{ readonly problems: readonly string[], readonly steps: number, readonly outcome?: { readonly result: string } }} LifeResult
 * @typedef {{ readonly trace?: (line: string) => void, readonly searches?: boolean }} LifeOptions
 * @typedef {object} Simulation
 * @property {(seed: number, options?: LifeOptions) => Promise<LifeResult>} runSeed
 * @property {(seed: number, options?: { readonly areStruck: boolean }) => Promise<readonly string[]>} runRivals
 * @property {readonly { readonly seed: number, readonly searches?: boolean, readonly faults?: readonly string[] }[]} PINNED_SEEDS
 */

const USAGE = `Runs the core against the model of a cluster, a life after another, each made from its seed.

  npm run simulate                    the pinned seeds, then 20,000 from seed 1
  npm run simulate -- --seeds N       how many after the pinned ones
  npm run simulate -- --from S        the seed they start from
  npm run simulate -- --seed S        replays one with a trace of every event
  npm run simulate -- --searches      jobs that are searches: of one role or several, of each algorithm and rule
  npm run simulate -- --feeds         feeds in place of jobs: tasks that are lost, late or cut off, checkpoints, equal steps

A seed that fails is printed with the line that replays it.`;

await runMain(async () => {
  const { seeds, seed, from, feeds, searches, help } = readCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  if (feeds) return await runFeeds(Number(seed ?? from), seed === undefined ? Number(seeds) : 1);
  /** @type {Simulation} */
  const simulation = await load("../test/simulation", ["run.ts", "rivals.ts", "pinned-seeds.ts"]);
  return seed === undefined
    ? runMany(simulation, Number(from), Number(seeds), searches)
    : replay(simulation, Number(seed), searches);
});

function readCommandLine() {
  try {
    return parseArgs({
      options: {
        seeds: { type: "string", default: "20000" },
        seed: { type: "string" },
        from: { type: "string", default: "1" },
        feeds: { type: "boolean", default: false },
        searches: { type: "boolean", default: false },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** @param {Simulation} simulation @param {number} seed @param {boolean} searches */
async function replay({ runSeed, runRivals }, seed, searches) {
  const result = await runSeed(seed, { trace: (line) => console.log(line), searches });
  const rivals = searches ? [] : await problemsOfRivals(runRivals, seed);
  console.log(JSON.stringify({ ...result, rivals }, null, 2));
  return result.problems.length + rivals.length === 0 ? 0 : 1;
}

/** @param {Simulation} simulation @param {number} from @param {number} seeds @param {boolean} searches */
async function runMany({ runSeed, runRivals, PINNED_SEEDS }, from, seeds, searches) {
  const startedAt = performance.now();
  /** @type {Record<string, number>} */
  const outcomes = {};
  let steps = 0;
  let failed = 0;
  // Pinned seeds with faults of their own are lives in the unit tests: no seed alone replays them.
  const plain = PINNED_SEEDS.filter(({ faults }) => faults === undefined);
  const pinned = plain.filter((one) => (one.searches ?? false) === searches).map(({ seed }) => seed);
  const fresh = Array.from({ length: seeds }, (_, index) => from + index);
  for (const seed of [...pinned, ...fresh]) {
    const result = await runSeed(seed, { searches });
    steps += result.steps;
    const outcome = result.outcome?.result ?? "none";
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const rivals = !searches && seed % SEEDS_FOR_RIVALS === 0 ? await problemsOfRivals(runRivals, seed) : [];
    const [problem] = [...result.problems, ...rivals];
    if (problem !== undefined) {
      failed++;
      console.error(`seed ${seed} failed: ${problem}`);
      console.error(`  replay it with: npm run simulate -- ${searches ? "--searches " : ""}--seed ${seed}`);
      if (failed === 10) {
        break;
      }
    }
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${pinned.length} pinned and ${seeds} further seeds, ${steps} steps in ${seconds.toFixed(1)} s: ${JSON.stringify(outcomes)}, ${failed} failed`,
  );
  return failed === 0 ? 0 : 1;
}

/** Feeds of each kind, one seed after the other. @param {number} from @param {number} seeds */
async function runFeeds(from, seeds) {
  const startedAt = performance.now();
  /** @type {{ readonly problemsOfFeeds: (seed: number) => readonly string[] }} */
  const { problemsOfFeeds } = await load("../test/am/core/feeds", ["lives.ts"]);
  let failed = 0;
  for (let seed = from; seed < from + seeds && failed < 10; seed += 1) {
    const [problem] = problemsOfFeeds(seed);
    if (problem === undefined) continue;
    failed += 1;
    console.error(`seed ${seed} failed: ${problem}`);
    console.error(`  replay it with: npm run simulate -- --feeds --seed ${seed}`);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`${seeds} seeds from ${from}, four feeds each, in ${seconds.toFixed(1)} s: ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

/**
 * Two competing jobs with this seed, without and with faults.
 * @param {Simulation["runRivals"]} runRivals
 * @param {number} seed
 */
async function problemsOfRivals(runRivals, seed) {
  const calm = await runRivals(seed);
  const struck = await runRivals(seed, { areStruck: true });
  return [...calm, ...struck].map((problem) => `of two rivals, ${problem}`);
}

/** The exports of these files. @param {string} home @param {readonly string[]} files */
async function load(home, files) {
  const folder = mkdtempSync(join(tmpdir(), "tony-ts-simulate-"));
  const outfile = join(folder, "run.mjs");
  try {
    const exports = files.map((file) => `export * from "./${file}";`).join("\n");
    const resolveDir = new URL(home, import.meta.url).pathname;
    await build({
      stdin: { contents: exports, resolveDir },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      outfile,
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
