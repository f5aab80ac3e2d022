/** The tests that allocate most, with simulated lives and thousands of damaged files, and one that collects garbage again and again. */
export const HEAVY =
  /\/test\/(simulation\/|am\/core\/scale\.|hadoop\/yarn\/aggregated-logs\.|hadoop\/security\/kerberos\/libgssapi\.)/;

/**
 * The heavy files run first, and then one file after the other by name. In a process that has run many files, V8 takes four times as long
 * for the same allocations, because Node keeps the modules of all files until the end.
 */
export default class Sequence {
  /** @template {{ readonly path: string }} T @param {readonly T[]} tests @returns {T[]} */
  sort(tests) {
    /** @param {T} test */
    const rank = ({ path }) => (HEAVY.test(path) ? 0 : 1);
    return [...tests].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1));
  }

  /**
   * `--shard` is not used.
   * @template T
   * @param {T} tests
   */
  shard(tests) {
    return tests;
  }

  /**
   * `--onlyFailures` is not used.
   * @template T
   * @param {T} tests
   */
  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {
    // The order does not depend on earlier measurements.
  }
}
