// Runs the core against the model of a cluster: `npm run simulate -- [--seeds N] [--seed S] [--from S]`.
// `--seed S` replays one seed with a trace of every event; otherwise pinned seeds come first, and every failing one is printed with the line
// that replays it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20000" },
    seed: { type: "string" },
    from: { type: "string", default: "1" },
  },
});

const { runSeed, PINNED_SEEDS } = await load();
if (values.seed !== undefined) {
  const result = runSeed(Number(values.seed), { trace: (line) => console.log(line) });
  console.log(JSON.stringify(result, null, 2));
  process.exitCode = result.problems.length === 0 ? 0 : 1;
} else {
  process.exitCode = runMany(Number(values.from), Number(values.seeds));
}

function runMany(from, seeds) {
  const startedAt = performance.now();
  const outcomes = {};
  let steps = 0;
  let failed = 0;
  const pinned = PINNED_SEEDS.map(({ seed }) => ({ seed, wide: false }));
  const fresh = Array.from({ length: seeds }, (_, index) => ({ seed: from + index, wide: true }));
  for (const { seed, wide } of [...pinned, ...fresh]) {
    const result = runSeed(seed, { wide });
    steps += result.steps;
    const outcome = result.outcome?.result ?? "none";
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    if (result.problems.length > 0) {
      failed++;
      console.error(`seed ${seed} failed: ${result.problems[0]}`);
      console.error(`  replay it with: npm run simulate -- --seed ${seed}`);
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

async function load() {
  const folder = mkdtempSync(join(tmpdir(), "tony-ts-simulate-"));
  const outfile = join(folder, "run.mjs");
  try {
    const exports = ["run.ts", "pinned-seeds.ts"].map((file) => `export * from "./${file}";`).join("\n");
    const resolveDir = new URL("../test/simulation", import.meta.url).pathname;
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
