/**
 * One step of `npm test` or `npm run test:all`. What has what it needs runs side by side as far as the machine's cores go
 * (side-by-side.mjs).
 * @typedef {object} Phase
 * @property {string} name
 * @property {string} what it proves, or what it prepares, for people
 * @property {readonly string[]} command run from the checkout's root; `node` is the running one
 * @property {Readonly<Record<string, string>>} [environment] beside the inherited one
 * @property {number} cores how many it keeps busy, roughly, all its processes together; `ALONE` for what load would disturb
 * @property {boolean} [background] it computes with what the others leave, at the lowest priority, also beside one that runs alone; one at a time
 * @property {number} limitSeconds a breach is a failure
 * @property {number} [silentSeconds] of Jest: when no test began or ended for so long, it stands still and is ended; what was left runs again
 * @property {number} [exitSeconds] of Jest: when it has not exited so long after its tests, it is ended
 * @property {readonly string[]} needs phases without which it cannot run
 * @property {readonly import("../prerequisites.mjs").Prerequisite[]} [machine] what the machine must have, else it is not run
 * @property {Readonly<Record<string, readonly string[]>>} [withPhase] arguments of the command where that phase runs too
 * @property {readonly string[]} [after] phases that must have ended before, whatever came of them
 * @property {boolean} [everyday] `npm test` runs it; `npm run test:all` runs every phase
 * @property {number | undefined} [turn] its day of `TURNS`: `npm run test:all` leaves it out on the others
 * @property {boolean} [prepares] proves nothing itself: where others need it, their failure is counted, and its own only told
 * @property {string} [endsWhatBegan] runs whenever that phase did, whatever came of it
 * @property {boolean} [tells] what it prints is shown though it passed
 * @property {boolean} [jest] the command writes Jest's JSON report, whose tests are counted
 */

/** Waits for the network, or for daemons that do little. */
export const WAITING = 0;
/** Computes half of the time, and waits for daemons the other half. */
export const HALF = 0.5;
export const ONE = 1;
/** What others would disturb: a fetch whose time is recorded. */
export const ALONE = Number.POSITIVE_INFINITY;

/**
 * A handle that a test leaves open keeps Jest from ending, which the phase's limit makes a failure.
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
 * @property {string | undefined} [jars] the phase that has its jars
 * @property {number} cores that the start of the cluster and each suite keep busy, unless the suite says otherwise
 *
 * What one of its suites says itself; `tests` are its files.
 * @typedef {Partial<Phase> & Pick<Phase, "what" | "limitSeconds"> & { readonly tests: string }} Suite
 */

/**
 * A cluster, the suites on it one after the other, and its end.
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
      // Each looks at whether anything of its own is left on the cluster.
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
 * A cluster for one suite, which has its name.
 * @param {string} name
 * @param {ClusterOptions & Suite} options
 * @returns {Phase[]}
 */
export const clusterOfItsOwn = (name, { options = [], jars, cores, ...suite }) =>
  onCluster(name, { options, jars, cores, suites: [{ name, ...suite }] });
