import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHECKOUT } from "../cluster/folders.mjs";

const FILE = join(CHECKOUT, "test", "measured.json");

/**
 * What each phase took on a machine without any cache, written by `npm run test:all -- --record`.
 * @typedef {Readonly<Record<string, { readonly seconds: number, readonly megabytes: number }>>} Measured
 *
 * @returns {Measured}
 */
export const readMeasured = () => JSON.parse(readFileSync(FILE, "utf8"));

/** @param {readonly { phase: import("./phase.mjs").Phase, result: import("./run-phase.mjs").PhaseResult }[]} ended */
export function recordMeasured(ended) {
  const passed = ended.filter(({ result }) => result.failed === 0);
  const rows = passed.map(({ phase, result }) => [
    phase.name,
    { seconds: Math.round(result.seconds), megabytes: Math.round((result.receivedBytes ?? 0) / 1e6) },
  ]);
  const all = { ...readMeasured(), ...Object.fromEntries(rows) };
  const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}
