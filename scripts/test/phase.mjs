/**
 * One step of `npm test` or `npm run test:all`. Phases whose needs are met run concurrently, as far as the machine's cores allow
 * (side-by-side.mjs).
 * @typedef {object} Phase
 * @property {string} name
 * @property {string} what it proves, or what it prepares, for people
 * @property {readonly string[]} command run from the checkout's root; `node` is the running one
 * @property {Readonly<Record<string, string>>} [environment] in addition to the inherited one
 * @property {number} cores roughly how many all its processes together keep busy; `ALONE` for a phase that load would disturb
 * @property {boolean} [background] it uses what the others leave, at the lowest priority, even during a phase that runs alone; one at a time
 * @property {number} limitSeconds exceeding it is a failure
 * @property {number} [silentSeconds] for Jest: when no test begins or ends for this long, it hangs and is ended; the remaining tests run again
 * @property {number} [exitSeconds] for Jest: when it has not exited this long after its tests, it is ended
 * @property {readonly string[]} needs phases without which it cannot run
 * @property {readonly import("../prerequisites.mjs").Prerequisite[]} [machine] what the machine must have for the phase to run
 * @property {Readonly<Record<string, readonly string[]>>} [withPhase] additional arguments when that phase runs too
 * @property {readonly string[]} [after] phases that must have ended before, whatever their results
 * @property {boolean} [everyday] `npm test` runs it; `npm run test:all` runs every phase
 * @property {number | undefined} [turn] its day of `TURNS`: `npm run test:all` omits it on the others
 * @property {boolean} [prepares] proves nothing itself: its own failure is only reported, and the failures of phases that need it are counted
 * @property {string} [endsWhatBegan] runs whenever that phase did, whatever its result
 * @property {boolean} [tells] its output is shown even when it passed
 * @property {boolean} [jest] the command writes Jest's JSON report, whose tests are counted
 */

/** Waits for the network, or for daemons that do little. */
export const WAITING = 0;
/** Computes half of the time, and waits for daemons in the other half. */
export const HALF = 0.5;
export const ONE = 1;
/** For phases that others would disturb: a fetch whose duration is recorded. */
export const ALONE = Number.POSITIVE_INFINITY;

/**
 * A handle that a test leaves open keeps Jest from exiting, which becomes a failure by the phase's limit.
 * @param {readonly string[]} args
 */
export const jest = (...args) => [
  "node",
  "--experimental-vm-modules",
  "--no-warnings=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
  ...args,
];

/**
 * One file after the other, in one process.
 * @param {readonly string[]} args
 */
export const jestInBand = (...args) => jest("--runInBand", ...args);

/** @param {string} major @param {readonly string[]} args */
export const nodeRelease = (major, ...args) => ["node", "scripts/test/node-runtime.mjs", major, ...args];

/** @type {readonly import("../prerequisites.mjs").Prerequisite[]} */
const OF_CLUSTERS = ["java", "python", "container-tools", "accounts"];
/** @type {readonly import("../prerequisites.mjs").Prerequisite[]} */
const OF_SECURE_CLUSTERS = ["network-tools", "kerberos"];

/**
 * How a cluster is started.
 * @typedef {object} ClusterOptions
 * @property {readonly string[]} [options] of `npm run cluster -- up`
 * @property {string | undefined} [jars] the phase that provides its jars
 * @property {number} cores that the cluster's start and each suite keep busy, unless the suite sets its own
 *
 * The settings of one of its suites; `tests` are its files.
 * @typedef {Partial<Phase> & Pick<Phase, "what" | "limitSeconds"> & { readonly tests: string }} Suite
 */

/**
 * The phases for a cluster: its start, its suites one after the other, and its end.
 * @param {string} name of the cluster
 * @param {ClusterOptions & { readonly suites: readonly (Suite & Pick<Phase, "name">)[] }} options
 * @returns {Phase[]}
 */
export function onCluster(name, { options = [], jars = "jars", cores, suites }) {
  return [
    {
      name: `${name}-up`,
      what: ["a real Hadoop", options.join(" ")].filter((words) => words !== "").join(": "),
      command: ["node", "scripts/cluster.mjs", "up", "--name", name, ...options],
      cores,
      limitSeconds: 300,
      needs: [jars, "build"],
      machine: [...OF_CLUSTERS, ...(options.includes("--secure") ? OF_SECURE_CLUSTERS : [])],
      prepares: true,
    },
    ...suites.map(({ tests, needs = [], after = [], ...suite }, index) => ({
      cores,
      ...suite,
      command: jestInBand("--selectProjects", "cluster", "--testPathPatterns", tests),
      environment: { TONY_TEST_CLUSTER: name },
      needs: [`${name}-up`, ...needs],
      // Each suite checks whether anything of its own is left on the cluster.
      after: [...after, ...suites.slice(0, index).map((before) => before.name)],
      jest: true,
    })),
    {
      name: `${name}-down`,
      what: "ends that Hadoop",
      command: ["node", "scripts/cluster.mjs", "down", "--name", name, "--delete"],
      cores: WAITING,
      limitSeconds: 60,
      needs: [],
      endsWhatBegan: `${name}-up`,
      prepares: true,
    },
  ];
}

/**
 * The phases for a cluster with a single suite, which has the cluster's name.
 * @param {string} name
 * @param {ClusterOptions & Suite} options
 * @returns {Phase[]}
 */
export const clusterOfItsOwn = (name, { options = [], jars, cores, ...suite }) =>
  onCluster(name, { options, jars, cores, suites: [{ name, ...suite }] });
