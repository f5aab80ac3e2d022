// Feeds hostile bytes to everything that reads bytes from outside; see USAGE.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { Problem, runMain, wordsOf } from "./problem.mjs";

/**
 * test/fuzz.
 * @typedef {{ readonly name: string }} Decoder
 * @typedef {{ readonly seed: number, readonly input: Uint8Array, readonly problem: string }} Finding
 * @typedef {(decoder: Decoder, inputs: number, from: number) => Promise<readonly Finding[]>} Fuzz
 */

const USAGE = `Gives hostile bytes to everything that reads bytes from outside: valid ones that were changed, each from its seed.
A reader must refuse them by an error of its own, in time and memory that grow with them.

  npm run fuzz                      100,000 inputs for each reader, from seed 1
  npm run fuzz -- --inputs N        how many
  npm run fuzz -- --from S          the seed they start from
  npm run fuzz -- --only NAME       readers whose name has that in it

An input that is not refused as it should be is printed with its seed; test/fuzz/fuzz.test.ts keeps it.`;

await runMain(async () => {
  const { inputs, from, only, help } = readCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  const { decoders, fuzz } = await load();
  const chosen = decoders.filter(({ name }) => name.includes(only));
  if (chosen.length === 0) throw new Problem(`no reader has ${only} in its name`, { exitCode: 2 });
  let failed = 0;
  for (const decoder of chosen) failed += await fuzzOne(fuzz, decoder, Number(inputs), Number(from));
  console.log(`at most ${Math.round(process.resourceUsage().maxRSS / 1024)} MiB of memory`);
  return failed === 0 ? 0 : 1;
});

function readCommandLine() {
  try {
    return parseArgs({
      options: {
        inputs: { type: "string", default: "100000" },
        from: { type: "string", default: "1" },
        only: { type: "string", default: "" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** @param {Fuzz} fuzz @param {Decoder} decoder @param {number} inputs @param {number} from */
async function fuzzOne(fuzz, decoder, inputs, from) {
  const startedMs = performance.now();
  const findings = await fuzz(decoder, inputs, from);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
  console.log(`${decoder.name}: ${inputs} inputs from seed ${from} in ${seconds} s, ${findings.length} failed`);
  for (const { seed, input, problem } of findings) {
    console.error(`  seed ${seed}: ${problem}\n    ${Buffer.from(input).toString("base64").slice(0, 2000)}`);
  }
  return findings.length;
}

/** @returns {Promise<{ readonly decoders: readonly Decoder[], readonly fuzz: Fuzz }>} */
async function load() {
  const folder = mkdtempSync(join(tmpdir(), "tony-ts-fuzz-"));
  const outfile = join(folder, "fuzz.cjs");
  try {
    const contents = ["fuzz.ts", "decoders.ts"].map((file) => `export * from "./${file}";`).join("\n");
    const resolveDir = new URL("../test/fuzz", import.meta.url).pathname;
    await build({
      stdin: { contents, resolveDir },
      bundle: true,
      platform: "node",
      format: "cjs",
      target: "node20",
      define: { "import.meta.url": "__filename" },
      // Loaded where a ticket is shown, which no reader does.
      external: ["kerberos", "koffi"],
      outfile,
    });
    const { default: loaded } = await import(pathToFileURL(outfile).href);
    return loaded;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
