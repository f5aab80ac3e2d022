import { lookForPrerequisites } from "../prerequisites.mjs";
import { wordsOf } from "../problem.mjs";
import { askToInstall, packageInstaller } from "../system-packages.mjs";

/**
 * @typedef {import("../prerequisites.mjs").Prerequisite} Prerequisite
 * @typedef {import("../prerequisites.mjs").Missing} Missing
 */

/**
 * Installs what phases need on this machine, after one question on a terminal. If something cannot be installed, only the phases that
 * need it do not run.
 * @param {readonly Prerequisite[]} wanted
 * @param {{ yes: boolean }} options
 * @returns {Promise<ReadonlyMap<Prerequisite, string>>} what this machine still lacks, and why
 */
export async function prepareMachine(wanted, { yes }) {
  const missing = await lookForEach(wanted);
  if (missing.size === 0) return new Map();
  for (const { what } of missing.values()) console.log(`✗ ${what}`);
  const refusal = await installAll([...missing.values()], yes);
  const still = await lookForEach([...missing.keys()]);
  return new Map([...still].map(([name, { what }]) => [name, refusal === undefined ? what : `${what}: ${refusal}`]));
}

/** @param {readonly Prerequisite[]} names @returns {Promise<Map<Prerequisite, Missing>>} those that are missing */
async function lookForEach(names) {
  const lacking = new Map();
  for (const name of names) {
    const [missing] = (await lookForPrerequisites([name])).missing;
    if (missing !== undefined) lacking.set(name, missing);
  }
  return lacking;
}

/** @param {readonly Missing[]} missing @param {boolean} yes @returns {Promise<string | undefined>} why nothing, or not all, was installed */
async function installAll(missing, yes) {
  const groups = missing.flatMap(({ debianPackage }) =>
    debianPackage === undefined ? [] : [debianPackage.split(" ")],
  );
  const installer = await askToInstall(groups.flat(), { yes });
  if ("refusal" in installer) return installer.refusal;
  const started = performance.now();
  const failure = await failureOf(installer);
  // One package that cannot be installed is no reason to go without the others.
  const failures = failure === undefined ? [] : await eachAlone(groups);
  console.log(`system packages  ${((performance.now() - started) / 1000).toFixed(0)} s`);
  return failures.length === 0 ? undefined : failures.join("\n");
}

/** @param {readonly string[][]} groups */
async function eachAlone(groups) {
  const failures = [];
  for (const packages of groups) failures.push(await failureOf(await packageInstaller(packages)));
  return failures.filter((failure) => failure !== undefined);
}

/** @param {Awaited<ReturnType<typeof packageInstaller>>} installer @returns {Promise<string | undefined>} */
async function failureOf(installer) {
  if ("refusal" in installer) return installer.refusal;
  try {
    await installer.install();
    return undefined;
  } catch (cause) {
    console.log(wordsOf(cause));
    return wordsOf(cause);
  }
}
