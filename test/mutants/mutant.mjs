/**
 * A small realistic bug, and the test that must fail because of it.
 * @typedef {object} Mutant
 * @property {string} bug what would go wrong, in words; it is the mutant's name
 * @property {string} file from the checkout's root
 * @property {string} from a piece of the file that stands there exactly once
 * @property {string} to what stands there instead
 * @property {Catch} caughtBy
 *
 * @typedef {{ readonly unit: string } | { readonly simulation: number }} Catch
 * `unit`: the beginning of the paths, below `test/`, of the tests that notice it; `simulation`: the number of seeds that notice it.
 */

/**
 * Several bugs of one file.
 * @param {string} file
 * @param {Catch} caughtBy of those that name no other
 * @param {readonly (Omit<Mutant, "file" | "caughtBy"> & Partial<Pick<Mutant, "caughtBy">>)[]} bugs
 * @returns {Mutant[]}
 */
export function mutantsOf(file, caughtBy, bugs) {
  return bugs.map((bug) => ({ file, caughtBy, ...bug }));
}
