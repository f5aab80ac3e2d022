import { RELEASES } from "../cluster/releases.mjs";

/**
 * The phases of `npm test`. Those that have what they need run side by side as far as the machine's cores go (side-by-side.mjs); of several
 * that could begin, the first in the list does: the way to the last job on a cluster is the longest, so it goes before what computes.
 * @typedef {object} Phase
 * @property {string} name
 * @property {string} what for people
 * @property {readonly string[]} command run from the checkout's root; `node` is the running one
 * @property {Readonly<Record<string, string>>} [environment] beside the inherited one
 * @property {number} cores how many it keeps busy, roughly, all its processes together; `ALONE` for what load would disturb
 * @property {number} limitSeconds a breach is a failure
 * @property {readonly string[]} needs phases without which it cannot run
 * @property {readonly string[]} [after] phases that must have ended before, whatever came of them
 * @property {string} [endsWhatBegan] runs whenever that phase did, whatever came of it
 * @property {boolean} [tells] what it prints is shown though it passed
 * @property {boolean} [jest] the command writes Jest's JSON report, whose tests are counted
 */

/** Waits for the network, or for daemons that do little. */
const WAITING = 0;
/** Computes half of the time, and waits for daemons the other half. */
const HALF = 0.5;
const ONE = 1;
const ALONE = Number.POSITIVE_INFINITY;

/** A handle that a test leaves open keeps Jest from ending, which the phase's limit makes a failure. */
const jest = (...args) => [
  "node",
  "--experimental-vm-modules",
  "--no-warnings=ExperimentalWarning",
  "node_modules/jest/bin/jest.js",
  "--runInBand",
  ...args,
];
const onCluster = (...patterns) => jest("--selectProjects", "cluster", "--testPathPatterns", ...patterns);

/**
 * A cluster of its own, the tests on it, and its end.
 * @param {string} name of the phase and of the cluster
 * @returns {Phase[]}
 */
export const clusterOfItsOwn = (
  name,
  { what, options = [], tests, cores, limitSeconds, jars = "jars", needs = [] },
) => [
  {
    name: `${name}-up`,
    what: ["a Hadoop for the next phase", options.join(" ")].filter((words) => words !== "").join(": "),
    command: ["node", "scripts/cluster.mjs", "up", "--name", name, ...options],
    cores: Math.max(cores, ONE),
    limitSeconds: 300,
    needs: [jars, "build"],
  },
  {
    name,
    what,
    command: onCluster(tests),
    environment: { TONY_TEST_CLUSTER: name },
    cores,
    limitSeconds,
    needs: [`${name}-up`, ...needs],
    jest: true,
  },
  {
    name: `${name}-down`,
    what: "ends that Hadoop",
    command: ["node", "scripts/cluster.mjs", "down", "--name", name, "--delete"],
    cores: WAITING,
    limitSeconds: 60,
    needs: [],
    endsWhatBegan: `${name}-up`,
  },
];

const nodeRelease = (major, ...args) => ["node", "scripts/test/node-runtime.mjs", major, ...args];

/** Of the releases of Node that tony-ts is tested with the oldest and the newest, but the running one, which the phase `unit` is for. */
const otherNodeReleases = ["20", "24"].filter((major) => major !== process.versions.node.split(".")[0]);

/**
 * The rooms of test/ whose code stands on what Node itself does: sockets, streams, HTTP, TLS, gRPC, files, compression, cryptography,
 * processes and signals. All else is the language alone, and is tested on one release. Real jobs run on each: test/e2e/node-releases.
 */
const RUNTIME_ROOMS = [
  ...["am/(?!core/)", "api/", "executor/", "history/", "journal/", "hadoop/", "machine", "programs"],
  ...["applications", "command-line", "logs", "shipping", "staging"].map((room) => `client/${room}/`),
];

/** Python packages that examples and tests run with (python-environment.mjs). */
const PYTHON_ENVIRONMENTS = ["horovod", "tensorflow", "deepspeed", "frameworks", "notebook", "hdfs"];

const [OLDEST_RELEASE] = Object.keys(RELEASES);

/** As Cloudera's clusters have them. */
const INDEXED_LOGS = [
  ...["--set", "yarn.log-aggregation.file-formats=IFile,TFile"],
  "--set",
  "yarn.log-aggregation.file-controller.IFile.class=org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController",
];

/** Seeds that no run had before. A failure prints the command with this number, which repeats it. */
const FRESH_SEED = String(Math.floor(Date.now() / 1000));

/** @type {readonly Phase[]} */
export const phases = [
  {
    name: "packages",
    what: "npm ci, when the lock file changed",
    command: ["node", "scripts/install.mjs"],
    cores: ONE,
    limitSeconds: 300,
    needs: [],
  },
  {
    name: "jars",
    what: "Hadoop's jars, when the cache has none",
    command: ["node", "scripts/cluster.mjs", "jars"],
    cores: WAITING,
    limitSeconds: 300,
    needs: [],
  },
  {
    name: "jars-oldest",
    what: "those of the oldest release, when the cache has none",
    command: ["node", "scripts/cluster.mjs", "jars", "--release", OLDEST_RELEASE],
    cores: WAITING,
    limitSeconds: 300,
    // Maven's local repository is for one Maven at a time.
    needs: ["jars"],
  },
  ...PYTHON_ENVIRONMENTS.map((name) => ({
    name,
    what: "Python packages that examples and tests run with, when the cache has none",
    command: ["node", "scripts/test/python-environment.mjs", name],
    // Horovod is compiled. It comes first, while the others wait for the network.
    cores: name === "horovod" ? ONE : WAITING,
    limitSeconds: name === "horovod" ? 1500 : 600,
    needs: [],
  })),
  ...["20", "22", "24"].map((major) => ({
    name: `node${major}`,
    what: `Node ${major}, when the cache has none`,
    command: nodeRelease(major),
    cores: WAITING,
    limitSeconds: 120,
    needs: [],
  })),
  {
    name: "proto",
    what: "generated protobuf modules",
    command: ["node", "scripts/proto.mjs"],
    cores: ONE,
    limitSeconds: 120,
    needs: ["packages"],
  },
  {
    name: "build",
    what: "bundles and library",
    command: ["node", "scripts/build.mjs"],
    cores: ONE,
    limitSeconds: 180,
    needs: ["proto"],
  },
  {
    name: "types",
    what: "the compiler, every strict flag",
    command: ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "lint",
    what: "Biome: lint and format",
    command: ["node", "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "test-up",
    what: "a real Hadoop for integration and e2e",
    command: ["node", "scripts/cluster.mjs", "up", "--name", "test"],
    cores: ONE,
    limitSeconds: 300,
    needs: ["jars", "build"],
  },
  {
    name: "integration",
    what: "each part against the real daemons",
    command: onCluster("test/integration"),
    cores: HALF,
    limitSeconds: 1200,
    needs: ["test-up"],
    jest: true,
  },
  {
    name: "e2e",
    what: "whole jobs, as people run them",
    command: onCluster("test/e2e"),
    cores: HALF,
    limitSeconds: 2400,
    needs: ["test-up", ...PYTHON_ENVIRONMENTS, "node20", "node22", "node24"],
    // Each looks at whether anything of its own is left on the cluster.
    after: ["integration"],
    jest: true,
  },
  {
    name: "test-down",
    what: "ends that Hadoop",
    command: ["node", "scripts/cluster.mjs", "down", "--name", "test", "--delete"],
    cores: WAITING,
    limitSeconds: 60,
    needs: [],
    endsWhatBegan: "test-up",
  },
  ...clusterOfItsOwn("e2e-secure", {
    what: "the same jobs where everybody has to prove who he is",
    options: ["--secure"],
    // Jobs of this machine alone have no cluster; Azkaban's, which have its tokens, are in test/secure; TonY's Hadoop 2.10 reads no
    // blocks there: it does not come to terms with DataNodes about encryption; lost answers cannot be told apart under privacy, so that file
    // has no test there, which Jest takes for a failure; what measures GPUs is the same on every cluster.
    tests: "test/e2e/(?!cli-local|azkaban|gpus|tony-history|lost-answers)",
    cores: HALF,
    limitSeconds: 2400,
    needs: [...PYTHON_ENVIRONMENTS, "node20", "node22", "node24"],
  }),
  {
    name: "package",
    what: "the packed tarball, installed where there is nothing but Node and npm",
    command: jest("--selectProjects", "package"),
    cores: ONE,
    limitSeconds: 240,
    needs: ["build"],
    jest: true,
  },
  ...clusterOfItsOwn("documents", {
    what: "every command line that README, docs and --help show",
    tests: "test/documents",
    cores: ONE,
    limitSeconds: 1500,
    // Some of those lines build again what that phase packs.
    needs: ["package"],
  }),
  {
    name: "unit",
    what: "tests that need Node alone",
    command: jest("--selectProjects", "unit", "--coverage"),
    cores: ONE,
    limitSeconds: 1800,
    needs: ["build"],
    jest: true,
  },
  {
    name: "coverage",
    what: "lines and branches that the unit tests cover, not fewer than before",
    command: ["node", "scripts/test/coverage.mjs"],
    cores: WAITING,
    limitSeconds: 30,
    needs: ["unit"],
    tells: true,
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
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "unused",
    what: "no unused file, export or dependency",
    command: ["node", "node_modules/knip/bin/knip.js"],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
  },
  {
    name: "images",
    what: "the Docker images, built without Docker; the whole cluster started from one",
    command: jest("--selectProjects", "images"),
    cores: HALF,
    limitSeconds: 1200,
    needs: ["packages"],
    jest: true,
  },
  {
    name: "simulation",
    what: "the core against 20,000 lives of a simulated cluster",
    command: ["node", "scripts/simulate.mjs", "--seeds", "20000"],
    cores: ONE,
    limitSeconds: 1200,
    needs: ["packages"],
  },
  {
    name: "simulation-fresh",
    what: "the same with 500 that no run had before",
    command: ["node", "scripts/simulate.mjs", "--seeds", "500", "--from", FRESH_SEED],
    cores: ONE,
    limitSeconds: 1200,
    needs: ["packages"],
  },
  {
    name: "mutants",
    what: "ten small bugs, others each day, that the tests must notice",
    command: ["node", "scripts/mutants.mjs", "--rotate", "10", "--copies", "1"],
    cores: ONE,
    limitSeconds: 1200,
    needs: ["unit"],
  },
  ...otherNodeReleases.map((major) => ({
    name: `unit-node${major}`,
    what: `what depends on the runtime, on Node ${major}`,
    command: nodeRelease(
      major,
      ...jest("--selectProjects", "unit", "--testPathPatterns", ...RUNTIME_ROOMS.map((room) => `/test/${room}`)).slice(
        1,
      ),
    ),
    cores: ONE,
    limitSeconds: 900,
    needs: ["build", `node${major}`],
    jest: true,
  })),
  ...clusterOfItsOwn("memory-calculator", {
    what: "jobs where the scheduler counts memory alone, on a node with fewer cores than they ask for",
    options: [
      ...["--calculator", "default", "--nodes", "1", "--label", "none"],
      ...["--set", "yarn.nodemanager.resource.cpu-vcores=2"],
    ],
    tests: "test/schedulers/memory-calculator",
    cores: HALF,
    limitSeconds: 120,
  }),
  ...clusterOfItsOwn("fair-scheduler", {
    what: "a job where queues are made as jobs name them, and logs are stored in indexed files",
    options: ["--scheduler", "fair", "--nodes", "1", ...INDEXED_LOGS],
    tests: "test/schedulers/fair-scheduler",
    cores: HALF,
    limitSeconds: 120,
  }),
  ...clusterOfItsOwn("oldest-release", {
    what: "jobs on the oldest release of Hadoop; npm run matrix tries all of them",
    options: ["--release", OLDEST_RELEASE],
    tests: "test/matrix/jobs",
    cores: HALF,
    limitSeconds: 240,
    jars: "jars-oldest",
  }),
  ...clusterOfItsOwn("gateway", {
    what: "jobs whose files go through an HttpFS, a router of HDFS, or a mount table",
    options: ["--httpfs", "--router", "--nodes", "1", "--label", "none"],
    tests: "test/storage",
    cores: HALF,
    limitSeconds: 240,
  }),
  ...clusterOfItsOwn("ha", {
    what: "ResourceManagers and NameNodes that fail over under real jobs",
    options: ["--ha", "--nm-heartbeat-ms", "250", "--label", "none"],
    tests: "test/ha",
    cores: ONE,
    limitSeconds: 900,
  }),
  ...clusterOfItsOwn("secure", {
    what: "a cluster where everybody has to prove who he is: Kerberos, tokens, HTTPS, encryption",
    options: ["--secure", "--timeline", "--nm-heartbeat-ms", "250", "--label", "none"],
    tests: "test/secure/(?!failover)",
    cores: HALF,
    limitSeconds: 600,
  }),
  ...["integrity", "authentication"].flatMap((protection) =>
    clusterOfItsOwn(`secure-${protection}`, {
      what: `jobs where RPC and HDFS's data are protected by ${protection} alone`,
      options: ["--secure", "--protection", protection],
      tests: "test/matrix/jobs",
      cores: HALF,
      limitSeconds: 300,
    }),
  ),
  ...clusterOfItsOwn("secure-ha", {
    what: "a job on encrypted files that both active masters are killed under",
    options: ["--secure", "--ha", "--nodes", "1", "--nm-heartbeat-ms", "250", "--label", "none"],
    tests: "test/secure/failover",
    cores: HALF,
    limitSeconds: 600,
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
    // What is noticed in seconds must not wait for others' computing.
    cores: ALONE,
    limitSeconds: 1500,
  }),
];
