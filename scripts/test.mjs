#!/usr/bin/env node
// Runs the project's checks in a fresh clone: prints one line for each phase when it ends, then all durations, the failures once
// more in short, and at the end `N passed, N failed`.
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { checkPrerequisites } from "./prerequisites.mjs";
import { Problem, runMain, wordsOf } from "./problem.mjs";
import { prepareMachine } from "./test/machine.mjs";
import { readMeasured, recordMeasured } from "./test/measured.mjs";
import { ALONE } from "./test/phase.mjs";
import { phases } from "./test/phases.mjs";
import { receivedBytes } from "./test/received-bytes.mjs";
import { failureSummary, phaseLines, secondsTable, totalOf, unsteadySummary } from "./test/report.mjs";
import { runPhase } from "./test/run-phase.mjs";
import { runSideBySide } from "./test/side-by-side.mjs";
import { suiteColumns } from "./test/suite-table.mjs";
import { hasTurn } from "./turn.mjs";

/** @import { Prerequisite } from "./prerequisites.mjs" */
/** @import { Phase } from "./test/phase.mjs" */

/**
 * The sum of all phases' limits is far higher: each has room for a slow machine, but not all need it at once. A day's suites, with a
 * third of those that take turns, should take an hour; a slower machine gets a quarter more.
 */
const WHOLE_LIMIT_SECONDS = 4500;
const EVERY_LIMIT_SECONDS = 7200;

const USAGE = `Runs the checks: types, lint, walls, unit tests, the package, and jobs on a real Hadoop.

  npm test                       what matters every day
  npm run test:all               every suite, of those that take turns today's
  npm run test:all -- --every    every suite
  npm test -- --only NAME        one suite of either, with what it needs; may be repeated
  npm test -- --list             the suites: what each proves, takes and fetches
  npm run test:all -- --record   writes what each takes and fetches into test/measured.json
  npm test -- --yes              install packages of the system without a question`;

await runMain(async () => {
  const { only, all, every, list, yes, record, help } = parseCommandLine();
  if (help || list) {
    console.log(help ? USAGE : suiteColumns(phases, readMeasured()));
    return 0;
  }
  await checkPrerequisites(["node"]);
  const chosen = chosenPhases(only, { all, every });
  const lacking = await prepareMachine([...new Set(chosen.flatMap(({ machine = [] }) => machine))], { yes });
  const totals = await runAll(chosen, {
    lacking,
    record,
    wholeSeconds: every ? EVERY_LIMIT_SECONDS : WHOLE_LIMIT_SECONDS,
  });
  if (all && only.length === 0) console.log(leftOut(chosen));
  console.log(`${totals.passed} passed, ${totals.failed} failed`);
  return totals.failed === 0 ? 0 : 1;
});

function parseCommandLine() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string", multiple: true },
        all: { type: "boolean" },
        every: { type: "boolean" },
        list: { type: "boolean" },
        yes: { type: "boolean", short: "y" },
        record: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
    const only = values.only ?? [];
    const unknown = only.find((name) => !phases.some((phase) => phase.name === name));
    if (unknown !== undefined) throw new Error(`--only ${unknown}: see npm test -- --list`);
    const { all = false, every = false, list = false, yes = false, record = false, help = false } = values;
    return { only, all, every, list, yes, record, help };
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** @param {readonly string[]} only @param {{ all: boolean, every: boolean }} otherwise */
function chosenPhases(only, { all, every }) {
  if (only.length > 0) return withNeeds(only);
  const suites = phases.filter(({ prepares, everyday, turn }) => {
    const isWanted = everyday || every || (all && (turn === undefined || hasTurn(turn)));
    return !prepares && isWanted;
  });
  return withNeeds(suites.map(({ name }) => name));
}

/** Names the phases that do not run today. @param {readonly Phase[]} chosen */
function leftOut(chosen) {
  const names = new Set(chosen.map(({ name }) => name));
  const others = phases.filter(({ name, prepares }) => !prepares && !names.has(name)).map(({ name }) => name);
  if (others.length === 0) return "";
  return `The turn of ${others.join(", ")} comes within two days: npm run test:all -- --every runs all.`;
}

/** The phases with these names, those that they need, and those that end what these began; in the common order. @param {readonly string[]} names */
function withNeeds(names) {
  const wanted = new Set(names);
  for (const phase of [...phases].reverse()) {
    if (wanted.has(phase.name)) for (const name of phase.needs) wanted.add(name);
  }
  const chosen = phases.filter(({ name, endsWhatBegan }) => wanted.has(name) || wanted.has(endsWhatBegan ?? ""));
  return chosen.map((phase) => besides(phase, wanted));
}

/** @param {Phase} phase @param {ReadonlySet<string>} wanted names of all that run */
function besides(phase, wanted) {
  const more = Object.entries(phase.withPhase ?? {}).flatMap(([name, words]) => (wanted.has(name) ? words : []));
  return { ...phase, command: [...phase.command, ...more] };
}

/**
 * Ctrl-C ends the running phases; after that only phases run that end something that was begun.
 * @param {readonly Phase[]} chosen
 * @param {object} options
 * @param {ReadonlyMap<Prerequisite, string>} options.lacking what this machine lacks, and why
 * @param {boolean} options.record fetches one thing after the other, to measure each one's traffic
 * @param {number} options.wholeSeconds phases that have not begun by then fail
 */
async function runAll(chosen, { lacking, record, wholeSeconds }) {
  /** @type {{ phase: Phase, beganSeconds: number, result: import("./test/run-phase.mjs").PhaseResult }[]} */
  const ended = [];
  const interruption = new AbortController();
  // Each running phase adds a listener; Node would take eleven of them for a leak.
  setMaxListeners(0, interruption.signal);
  for (const name of ["SIGINT", "SIGTERM"]) process.on(name, () => interruption.abort());
  const started = performance.now();
  const secondsSince = () => (performance.now() - started) / 1000;
  const measured = async (/** @type {Phase} */ phase, /** @type {AbortSignal | undefined} */ signal = undefined) => {
    const before = await receivedBytes();
    const result = await runPhase(phase, signal);
    return { ...result, receivedBytes: (await receivedBytes()) - before };
  };
  const receivedBefore = await receivedBytes();
  const isFetch = (/** @type {Phase} */ { prepares, needs, endsWhatBegan }) =>
    prepares && needs.length === 0 && endsWhatBegan === undefined;
  const alone = (/** @type {Phase} */ phase) => (record && isFetch(phase) ? { ...phase, cores: ALONE } : phase);
  await runSideBySide(chosen.map(alone), {
    cores: availableParallelism(),
    refusal: ({ machine = [] }) => {
      if (interruption.signal.aborted) return "interrupted";
      const missing = machine.find((name) => lacking.has(name));
      if (missing !== undefined) return `this machine lacks ${lacking.get(missing)}`;
      return secondsSince() > wholeSeconds - 1 ? `all of it may take ${wholeSeconds} s` : undefined;
    },
    run: (phase) => {
      if (phase.endsWhatBegan !== undefined) return measured(phase);
      const secondsLeft = wholeSeconds - secondsSince();
      const limitSeconds = Math.round(Math.min(phase.limitSeconds, secondsLeft));
      return measured({ ...phase, limitSeconds }, interruption.signal);
    },
    ended: (phase, result) => {
      ended.push({ phase, beganSeconds: secondsSince() - result.seconds, result });
      console.log(phaseLines(phase, result));
    },
  });
  const received = ((await receivedBytes()) - receivedBefore) / 1e6;
  console.log(`\n${secondsTable(ended, secondsSince())}\nfetched over the network: ${received.toFixed(0)} MB\n`);
  if (record) recordMeasured(ended);
  const totals = totalOf(ended);
  for (const summary of [unsteadySummary(ended), failureSummary(ended)])
    if (summary !== "") console.log(`${summary}\n`);
  return totals;
}
