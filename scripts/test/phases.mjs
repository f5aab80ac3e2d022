/**
 * The phases of `npm test` in their order.
 * @typedef {object} Phase
 * @property {string} name
 * @property {string} what for people
 * @property {readonly string[]} command run from the checkout's root; `node` is the running one
 * @property {Readonly<Record<string, string>>} [environment] beside the inherited one
 * @property {number} limitSeconds a breach is a failure
 * @property {readonly string[]} needs phases without which it cannot run
 * @property {string} [endsWhatBegan] runs whenever that phase did, whatever came of it
 * @property {boolean} [jest] the command writes Jest's JSON report, whose tests are counted
 */

const jest = (...args) => [
  "node",
  "--experimental-vm-modules",
  "--no-warnings=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
  // A handle that a test left open fails nothing by itself, but Jest would wait for it until the phase's limit.
  "--forceExit",
  ...args,
];
const onCluster = (...patterns) =>
  jest("--selectProjects", "cluster", "--runInBand", "--testPathPatterns", ...patterns);

/**
 * A cluster of its own, the tests on it, and its end.
 * @param {string} name of the phase and of the cluster
 * @returns {Phase[]}
 */
const clusterOfItsOwn = (name, { what, options, tests, limitSeconds }) => [
  {
    name: `${name}-up`,
    what: `a Hadoop for the next phase: ${options.join(" ")}`,
    command: ["node", "scripts/cluster.mjs", "up", "--name", name, ...options],
    limitSeconds: 300,
    needs: ["build"],
  },
  {
    name,
    what,
    command: onCluster(tests),
    environment: { TONY_TEST_CLUSTER: name },
    limitSeconds,
    needs: [`${name}-up`],
    jest: true,
  },
  {
    name: `${name}-down`,
    what: "ends that Hadoop",
    command: ["node", "scripts/cluster.mjs", "down", "--name", name, "--delete"],
    limitSeconds: 60,
    needs: [],
    endsWhatBegan: `${name}-up`,
  },
];

/** The releases that tony-ts is tested with, but the running one, which the phase `unit` is for. */
const otherNodeReleases = ["20", "22", "24"].filter((major) => major !== process.versions.node.split(".")[0]);

/** @type {readonly Phase[]} */
export const phases = [
  {
    name: "packages",
    what: "npm ci, when the lock file changed",
    command: ["node", "scripts/install.mjs"],
    limitSeconds: 300,
    needs: [],
  },
  {
    name: "proto",
    what: "generated protobuf modules",
    command: ["node", "scripts/proto.mjs"],
    limitSeconds: 120,
    needs: ["packages"],
  },
  {
    name: "types",
    what: "the compiler, every strict flag",
    command: ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "lint",
    what: "Biome: lint and format",
    command: ["node", "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
    limitSeconds: 120,
    needs: ["packages"],
  },
  {
    name: "walls",
    what: "the architecture's walls, no cycles",
    command: [
      "node",
      "node_modules/dependency-cruiser/bin/dependency-cruise.mjs",
      "--config",
      ".dependency-cruiser.mjs",
      "src",
      "am",
      "executor",
      "client",
    ],
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "unused",
    what: "no unused file, export or dependency",
    command: ["node", "node_modules/knip/bin/knip.js"],
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "build",
    what: "bundles and library",
    command: ["node", "scripts/build.mjs"],
    limitSeconds: 180,
    needs: ["proto"],
  },
  {
    name: "unit",
    what: "tests that need Node alone",
    command: jest("--selectProjects", "unit"),
    limitSeconds: 600,
    needs: ["build"],
    jest: true,
  },
  ...otherNodeReleases.map((major) => ({
    name: `unit-node${major}`,
    what: `the unit tests on Node ${major}`,
    command: ["node", "scripts/test/node-runtime.mjs", major, ...jest("--selectProjects", "unit").slice(1)],
    limitSeconds: 420,
    needs: ["build"],
    jest: true,
  })),
  {
    name: "simulation",
    what: "the core against 20,000 lives of a simulated cluster",
    command: ["node", "scripts/simulate.mjs", "--seeds", "20000"],
    limitSeconds: 300,
    needs: ["packages"],
  },
  {
    name: "mutants",
    what: "ten small bugs, others each day, that the tests must notice",
    command: ["node", "scripts/mutants.mjs", "--rotate", "10"],
    limitSeconds: 600,
    needs: ["unit"],
  },
  {
    name: "package",
    what: "the packed tarball, installed where there is nothing but Node and npm",
    command: jest("--selectProjects", "package"),
    limitSeconds: 240,
    needs: ["build"],
    jest: true,
  },
  {
    name: "tensorflow",
    what: "the TensorFlow that a test trains with, when the cache has none",
    command: ["node", "scripts/test/tensorflow.mjs"],
    limitSeconds: 420,
    needs: [],
  },
  {
    name: "images",
    what: "the Docker images, built without Docker; the whole cluster started from one",
    command: jest("--selectProjects", "images"),
    limitSeconds: 600,
    needs: ["packages"],
    jest: true,
  },
  {
    name: "cluster-up",
    what: "a real Hadoop for the next phases",
    command: ["node", "scripts/cluster.mjs", "up", "--name", "test"],
    limitSeconds: 300,
    needs: ["build"],
  },
  {
    name: "integration",
    what: "each part against the real daemons",
    command: onCluster("test/integration"),
    limitSeconds: 600,
    needs: ["cluster-up"],
    jest: true,
  },
  {
    name: "e2e",
    what: "whole jobs, as people run them",
    command: onCluster("test/e2e"),
    limitSeconds: 900,
    needs: ["cluster-up", "tensorflow"],
    jest: true,
  },
  {
    name: "documents",
    what: "every command line that README, docs and --help show",
    command: onCluster("test/documents"),
    limitSeconds: 900,
    needs: ["cluster-up"],
    jest: true,
  },
  {
    name: "cluster-down",
    what: "ends that Hadoop",
    command: ["node", "scripts/cluster.mjs", "down", "--name", "test", "--delete"],
    limitSeconds: 60,
    needs: [],
    endsWhatBegan: "cluster-up",
  },
  ...clusterOfItsOwn("memory-calculator", {
    what: "jobs where the scheduler counts memory alone, on a node with fewer cores than they ask for",
    options: [
      ...["--calculator", "default", "--nodes", "1", "--label", "none"],
      ...["--set", "yarn.nodemanager.resource.cpu-vcores=2"],
    ],
    tests: "test/schedulers/memory-calculator",
    limitSeconds: 120,
  }),
  ...clusterOfItsOwn("fair-scheduler", {
    what: "a job where queues are made as jobs name them",
    options: ["--scheduler", "fair", "--nodes", "1"],
    tests: "test/schedulers/fair-scheduler",
    limitSeconds: 120,
  }),
  ...clusterOfItsOwn("faults", {
    what: "programs, executors, masters and daemons killed and stopped under real jobs",
    options: [
      ...["--nm-heartbeat-ms", "250", "--preemption", "--nodes", "3", "--label", "none"],
      // Namespaces and mounts are root's to make; without them the tests that cut a node off and fill its disk are skipped.
      ...(process.getuid() === 0 ? ["--isolate", "3", "--small-disk", "3"] : []),
      ...["--set", "yarn.nodemanager.disk-health-checker.interval-ms=500"],
      ...["--set", "yarn.am.liveness-monitor.expiry-interval-ms=10000"],
      ...["--set", "yarn.nm.liveness-monitor.expiry-interval-ms=60000"],
    ],
    tests: "test/faults",
    limitSeconds: 1500,
  }),
];
