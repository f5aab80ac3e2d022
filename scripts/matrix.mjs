#!/usr/bin/env node
// Runs the jobs of test/matrix on every Hadoop release, and on the newest with each of its schedulers and each protection of
// Kerberos; one cluster after the other. At the end it prints a table of what passed where.
import { parseArgs } from "node:util";
import { RELEASES } from "./cluster/releases.mjs";
import { checkPrerequisites } from "./prerequisites.mjs";
import { Problem, runMain, wordsOf } from "./problem.mjs";
import { matrixTable } from "./test/matrix-table.mjs";
import { clusterOfItsOwn } from "./test/phase.mjs";
import { phaseLines, totalOf } from "./test/report.mjs";
import { runPhase } from "./test/run-phase.mjs";
import { runSideBySide } from "./test/side-by-side.mjs";

/** @import { Phase } from "./test/phase.mjs" */
/** @import { PhaseResult } from "./test/run-phase.mjs" */

/** The options of `npm run cluster -- up` for each column. @type {Readonly<Record<string, readonly string[]>>} */
const CLUSTERS = {
  ...Object.fromEntries(Object.keys(RELEASES).map((release) => [release, ["--release", release]])),
  // Nodes with fewer cores than the jobs request; this scheduler does not count cores.
  "memory-calculator": ["--calculator", "default", "--set", "yarn.nodemanager.resource.cpu-vcores=2"],
  async: ["--scheduling", "async"],
  "multi-node": ["--scheduling", "multi-node"],
  "fair-scheduler": ["--scheduler", "fair"],
  ...Object.fromEntries(
    ["authentication", "integrity", "privacy"].map((protection) => [
      `secure-${protection}`,
      ["--secure", "--protection", protection],
    ]),
  ),
};

const USAGE = `Runs the same jobs on several kinds of real Hadoop clusters, and prints what passed where.

  npm run matrix                  all of them: ${Object.keys(CLUSTERS).join(", ")}
  npm run matrix -- --only NAME   some of them; may be repeated`;

await runMain(async () => {
  const { only, help } = parseCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  await checkPrerequisites(["node", "java", "maven", "python", "container-tools", "accounts", "kerberos"]);
  const ran = [];
  for (const [name, options] of Object.entries(CLUSTERS))
    if (only.length === 0 || only.includes(name)) ran.push(await runOn(name, options));
  console.log(`\n${matrixTable(ran)}`);
  return ran.every(({ failed }) => failed === 0) ? 0 : 1;
});

function parseCommandLine() {
  try {
    const { values } = parseArgs({
      options: { only: { type: "string", multiple: true }, help: { type: "boolean", short: "h" } },
    });
    const only = values.only ?? [];
    const unknown = only.find((name) => !Object.hasOwn(CLUSTERS, name));
    if (unknown !== undefined) throw new Error(`--only ${unknown}: there are ${Object.keys(CLUSTERS).join(", ")}`);
    return { only, help: values.help === true };
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** Starts the cluster, runs the jobs on it and ends it, whatever their results. @param {string} name @param {readonly string[]} options */
async function runOn(name, options) {
  const clusterName = `matrix-${name.replaceAll(".", "-")}`;
  const phases = clusterOfItsOwn(clusterName, {
    what: "the jobs of the matrix",
    options,
    tests: "test/matrix",
    cores: 1,
    limitSeconds: 900,
  });
  /** @type {{ phase: Phase, result: PhaseResult }[]} */
  const ran = [];
  await runSideBySide(phases, {
    cores: 1,
    run: runPhase,
    refusal: () => undefined,
    ended: (phase, result) => {
      ran.push({ phase, result });
      console.log(phaseLines(phase, result));
    },
  });
  return { name, failed: totalOf(ran).failed, tests: ran.flatMap(({ result }) => result.tests ?? []) };
}
