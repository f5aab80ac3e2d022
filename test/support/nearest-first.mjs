import { dirname, relative, sep } from "node:path";
import Sequence, { HEAVY } from "./sequence.mjs";

/**
 * For a run that ends with its first failure and whose tests must notice a change in TONY_CHANGED_FILE (relative to the checkout's root):
 * the tests of its folder come first, then those of the folders around it, and the heavy ones last.
 */
export default class NearestFirst extends Sequence {
  /** @param {{ readonly globalConfig: { readonly rootDir: string } }} options */
  constructor({ globalConfig }) {
    super();
    this.tests = `${globalConfig.rootDir}/test`;
  }

  /** @override @template {{ readonly path: string }} T @param {readonly T[]} tests @returns {T[]} */
  sort(tests) {
    const changed = process.env.TONY_CHANGED_FILE ?? "";
    /** @param {T} test */
    const rank = ({ path }) => (HEAVY.test(path) ? 0 : sharedFolders(relative(this.tests, path), changed) + 1);
    return super.sort(tests).sort((a, b) => rank(b) - rank(a));
  }
}

/** @param {string} one @param {string} other */
function sharedFolders(one, other) {
  const folders = dirname(other).split(sep);
  const apart = dirname(one)
    .split(sep)
    .findIndex((folder, at) => folder !== folders[at]);
  return apart === -1 ? dirname(one).split(sep).length : apart;
}
