import { readFileSync } from "node:fs";

/**
 * A small realistic bug, and the test that must fail because of it.
 * @typedef {import("../../scripts/mutants/plant.mjs").Edit & { readonly bug: string, readonly file: string, readonly caughtBy: Catch }} Mutant
 * `bug`: what would go wrong, in words; it is the mutant's name. `file`: from the checkout's root.
 *
 * @typedef {{ readonly unit: string } | { readonly simulation: number }} Catch
 * `unit`: the beginning of the paths, below `test/`, of the tests that notice it; `simulation`: the number of seeds that notice it.
 */

/** In lists that are read as text; a file, and then its bugs, each of two lines:
 *
 *     am/core/gang/restart.ts, noticed by am/core/
 *       the first restart waits
 *         restartDelayMs: charged < 2 ? 0 : →
 */
const LINES = {
  file: /^(?<file>\S+), noticed by (?:simulation (?<simulation>\d+)|(?<unit>\S+))$/,
  bug: /^ {2}(?<bug>\S.*)$/,
  edit: /^ {4}(?<inside>\S+): (?<find>.+?) →(?: (?<replace>.*))?$/,
};

/** @param {string} list @returns {Mutant[]} */
export function readMutants(list) {
  const mutants = [];
  let file = "";
  let bug = "";
  /** @type {Catch} */
  let caughtBy = { unit: "" };
  for (const [index, line] of list.split("\n").entries()) {
    if (line === "" || line.startsWith("#")) continue;
    const header = LINES.file.exec(line)?.groups;
    const edit = LINES.edit.exec(line)?.groups;
    if (header !== undefined) {
      file = header.file ?? "";
      caughtBy =
        header.simulation === undefined ? { unit: header.unit ?? "" } : { simulation: Number(header.simulation) };
    } else if (edit !== undefined) {
      mutants.push({
        bug,
        file,
        caughtBy,
        inside: edit.inside ?? "",
        find: edit.find ?? "",
        replace: edit.replace ?? "",
      });
    } else {
      const words = LINES.bug.exec(line)?.groups;
      if (words === undefined) throw new Error(`line ${index + 1} of the list is no file, bug or edit: ${line}`);
      bug = words.bug ?? "";
    }
  }
  return mutants;
}

export const MUTANTS = ["core", "links", "hadoop"].flatMap((list) =>
  readMutants(readFileSync(new URL(`${list}.txt`, import.meta.url), "utf8")),
);
