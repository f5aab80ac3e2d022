import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { errorMessage } from "../src/hadoop/errors.ts";
import { BenchClusters, type ClusterOf } from "./cluster.ts";
import { collect, type Sample } from "./figures.ts";
import type { Measurement } from "./measurement.ts";
import { attacked } from "./measurements/attacks.ts";
import { citizen } from "./measurements/citizen.ts";
import { crowd } from "./measurements/crowd.ts";
import { feeds } from "./measurements/feeds.ts";
import { memory } from "./measurements/memory.ts";
import { portal } from "./measurements/portal.ts";
import { protection } from "./measurements/protection.ts";
import { executorLoss, frozenExecutorNoticed, generationRestart } from "./measurements/restart.ts";
import { hadoopRpc } from "./measurements/rpc.ts";
import { search } from "./measurements/search.ts";
import { thirteenTasks, threeTasks } from "./measurements/start-and-end.ts";
import { store } from "./measurements/store.ts";
import { takeover } from "./measurements/takeover.ts";
import { upload } from "./measurements/upload.ts";
import { currentLoad, describeResult, type MeasurementResult, resultsJson } from "./report.ts";

const measurements: readonly Measurement[] = [
  threeTasks,
  thirteenTasks,
  memory,
  crowd,
  attacked,
  generationRestart,
  executorLoss,
  frozenExecutorNoticed,
  takeover,
  store,
  feeds,
  search,
  portal,
  hadoopRpc,
  upload,
  protection,
  // This one comes last, because the ResourceManager counts its many nodes as lost afterwards.
  citizen,
];

const usage = `Measures what architecture promises, on clusters of its own; budgets are shown, never asserted.

  npm run bench                  everything, 5 runs each
  npm run bench -- --only NAME   one of them; may be repeated
  npm run bench -- --runs N      how many runs are counted
  npm run bench -- --json FILE   writes the results as JSON too

${measurements.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join("\n")}`;

interface Options {
  readonly chosen: readonly Measurement[];
  readonly runs: number;
  readonly json: string | undefined;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    console.log(options);
    return options === usage ? 0 : 2;
  }
  const clusters = new BenchClusters();
  const results: MeasurementResult[] = [];
  try {
    for (const measurement of options.chosen) {
      const result = await measure(measurement, clusters.of, options.runs);
      console.log(describeResult(result));
      results.push(result);
    }
  } finally {
    await clusters.end();
  }
  if (options.json !== undefined) writeFileSync(options.json, `${resultsJson(results, Date.now())}\n`);
  return results.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

/** A run that fails is reported and does not affect the others. */
async function measure(
  { name, what, warmUps, mostRuns = Number.POSITIVE_INFINITY, figures, run }: Measurement,
  clusterOf: ClusterOf,
  runs: number,
): Promise<MeasurementResult> {
  const loadAverage = currentLoad();
  const samples: Sample[] = [];
  const failures: string[] = [];
  for (let index = -warmUps; index < Math.min(runs, mostRuns); index++) {
    try {
      const sample = await run(clusterOf);
      if (index >= 0) samples.push(sample);
    } catch (error) {
      failures.push(errorMessage(error));
    }
  }
  return { name, what, figures: collect(figures, samples), loadAverage, failures };
}

/** What to do; or, as text, the usage or an error. */
function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true },
        runs: { type: "string", default: "5" },
        json: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
    if (values.help === true) return usage;
    const runs = Number(values.runs);
    if (!Number.isInteger(runs) || runs < 1) return `--runs ${values.runs}: must be a whole number from 1`;
    const { only } = values;
    const unknown = only?.find((name) => !measurements.some((measurement) => measurement.name === name));
    if (unknown !== undefined) return `--only ${unknown}: there is none of that name\n\n${usage}`;
    const chosen = measurements.filter(({ name }) => only === undefined || only.includes(name));
    return { chosen, runs, json: values.json };
  } catch (error) {
    return `${errorMessage(error)}\n\n${usage}`;
  }
}
