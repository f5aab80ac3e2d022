import path from "node:path";
import { inTurn } from "../turn.mjs";
import { ROOMS } from "./coverage-of-rooms.mjs";
import { clusterOfItsOwn, HALF, jest, jestInBand, nodeRelease, ONE, onCluster, WAITING } from "./phase.mjs";
import { NODE_RELEASES, OLDEST_HADOOP, PYTHON_ENVIRONMENTS, preparations } from "./preparations.mjs";

/** @typedef {import("./phase.mjs").Phase} Phase */

/** The newest Node release that tony-ts is tested with, or the oldest where the newest runs the tests. */
const OTHER_NODE = process.versions.node.split(".")[0] === "24" ? "20" : "24";

/**
 * The rooms of test/ whose code depends on Node's own modules: sockets, streams, HTTP, TLS, gRPC, files, compression, cryptography,
 * processes and signals. All other code depends only on the language, and is tested on one release. Real jobs run on each:
 * test/e2e/environments/node.
 */
const RUNTIME_ROOMS = [
  ["am/scheduler/", "api/", "client/logs/", "client/shipping/", "history/avro/", "journal/", "machine", "programs"],
  ["executor/"],
  ["hadoop/"],
];

/** The programs whose coverage is measured today: Istanbul's counters double the tests' computing time. */
const COUNTED = inTurn(ROOMS, 1).map((room) => `${room}/**/*.ts`);

/** As on Cloudera's clusters. */
const INDEXED_LOGS = [
  ...["--set", "yarn.log-aggregation.file-formats=IFile,TFile"],
  "--set",
  "yarn.log-aggregation.file-controller.IFile.class=org.apache.hadoop.yarn.logaggregation.filecontroller.ifile.LogAggregationIndexedFileController",
];

/** Seeds that no run has had before. A failure prints the command with this number, which repeats it. */
const FRESH_SEED = String(Math.floor(Date.now() / 1000));

/**
 * Frameworks take turns, as do Hadoop clusters with other settings or releases: each day has about as much of both. @type
 * {Readonly<Record<string, number>>}
 */
const TURN_OF_ENVIRONMENT = {
  ...{ dask: 0, horovod: 0, jax: 0 },
  ...{ mpi: 1, tensorflow: 1 },
  ...{ deepspeed: 2, hdfs: 2, notebook: 2, ray: 2 },
};

/** Files of test/e2e whose jobs `npm test` runs: the main job, a parameter server, restarts, logs, kill, and a job without a cluster. */
const EVERYDAY_JOBS = "cli-jobs|cli-local|cli-refusals|examples|programs";

/**
 * Files of test/e2e that depend on a secure cluster's access checks: who asks, with which ticket or token, and what is shown. The others'
 * programs behave the same there.
 */
const SECURE_JOBS = [
  ...["attacks", "cli-jobs", "forward", "submissions"],
  ...inTurn(["cli-refusals|library", "feed-results|trouble-daemons", "resume|sessions"], 1),
].join("|");

/** Phases that need no cluster and compute. @type {readonly Phase[]} */
const withoutCluster = [
  {
    name: "types",
    what: "the compiler, every strict flag",
    command: ["node", "node_modules/typescript/bin/tsc", "--noEmit"],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
    everyday: true,
  },
  {
    name: "lint",
    what: "Biome: lint and format",
    command: ["node", "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
    everyday: true,
  },
  {
    name: "unit",
    what: "tests that need only Node",
    command: jest("--selectProjects", "unit"),
    withPhase: {
      coverage: ["--coverage", `--collectCoverageFrom=${JSON.stringify([...COUNTED, "!**/generated/**"])}`],
    },
    // Two processes on two cores; the concurrent suites mostly wait for daemons.
    cores: ONE,
    limitSeconds: 2700,
    needs: ["build"],
    everyday: true,
    jest: true,
  },
  {
    name: "coverage",
    what: "the unit tests' coverage of one room, another each day: no fewer lines and branches than before",
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
    everyday: true,
  },
  {
    name: "unused",
    what: "no unused file, export or dependency",
    command: ["node", "node_modules/knip/bin/knip.js"],
    cores: ONE,
    limitSeconds: 120,
    needs: ["proto"],
    everyday: true,
  },
  {
    name: "simulation",
    what: "the core against 1,000 lives of a simulated cluster",
    command: ["node", "scripts/simulate.mjs", "--seeds", "1000"],
    cores: ONE,
    background: true,
    limitSeconds: 2400,
    needs: ["packages"],
    everyday: true,
  },
  {
    name: "python",
    what: "the Python package: format, lint and types; its tests; its wheel, installed with Node by pip",
    command: ["node", "scripts/test/python-package.mjs"],
    cores: ONE,
    limitSeconds: 2700,
    needs: ["build", "python-package"],
  },
  {
    name: "prometheus",
    what: "a real Prometheus: it discovers the portal and running jobs, and accepts the alert rules and each panel of the dashboard",
    command: jestInBand("--selectProjects", "prometheus"),
    machine: ["prometheus"],
    cores: ONE,
    limitSeconds: 180,
    needs: ["proto"],
    jest: true,
  },
  {
    name: "simulation-fresh",
    what: "the same with 1,000 new seeds",
    command: ["node", "scripts/simulate.mjs", "--seeds", "1000", "--from", FRESH_SEED],
    cores: ONE,
    background: true,
    limitSeconds: 1200,
    needs: ["packages"],
  },
  {
    name: "mutants",
    what: "three small planted bugs, different ones each day, that the tests must notice",
    command: ["node", "scripts/mutants.mjs", "--rotate", "3", "--copies", "1"],
    cores: ONE,
    background: true,
    limitSeconds: 2700,
    needs: ["unit"],
  },
  {
    name: "unit-other-node",
    what: "the tests that depend on the runtime, a third each day, on another release of Node",
    command: nodeRelease(
      OTHER_NODE,
      // Each file's modules stay in a process: Jest's workers are replaced in time (jest.config.mjs), but its own process never is.
      ...jest(
        "--maxWorkers=1",
        "--selectProjects",
        "unit",
        "--testPathPatterns",
        ...inTurn(RUNTIME_ROOMS, 1).flatMap((rooms) => rooms.map((room) => `/test/${room}`)),
      ).slice(1),
    ),
    cores: ONE,
    limitSeconds: 1800,
    // Longer than any test may take.
    silentSeconds: 240,
    needs: ["build", `node${OTHER_NODE}`],
    jest: true,
  },
  {
    name: "images",
    what: "the Docker images, built without Docker; one of them starts the whole cluster",
    command: jestInBand("--selectProjects", "images"),
    machine: ["java", "maven", "image-tools"],
    cores: HALF,
    limitSeconds: 1200,
    needs: ["packages"],
    jest: true,
  },
];

const packed = {
  name: "package",
  what: "the packed tarball, installed where there are only Node and npm",
  command: jestInBand("--selectProjects", "package"),
  cores: ONE,
  limitSeconds: 900,
  needs: ["build"],
  everyday: true,
  jest: true,
};

/**
 * Of several phases that could begin, the first in this list does. Computing phases run one after the other beside two clusters, and a
 * third cluster begins when they are over. The suites with faults run late, when there is less load: they depend on reactions within
 * seconds.
 * @type {readonly Phase[]}
 */
export const phases = [
  ...preparations,
  ...onCluster("test", {
    cores: HALF,
    suites: [
      {
        name: "integration",
        what: "each part against the real daemons",
        tests: "test/integration",
        // Its counterpart, Java's own SASL, is compiled when it runs.
        machine: ["jdk"],
        limitSeconds: 1200,
        everyday: true,
      },
      {
        name: "jobs",
        what: "the jobs that everybody runs: their output, failures, restarts, logs and end, also that of their ApplicationMaster; without a cluster",
        tests: `test/(matrix/killed-master|e2e/(${EVERYDAY_JOBS}))\\.`,
        limitSeconds: 1200,
        everyday: true,
      },
      {
        name: "pytorch",
        what: "two workers train a PyTorch model; torchrun",
        tests: "test/e2e/environments/pytorch\\.",
        limitSeconds: 300,
        machine: ["pytorch"],
        everyday: true,
      },
      {
        name: "pytorch-elastic",
        what: "torchrun goes on with fewer workers",
        tests: "test/e2e/environments/pytorch-elastic",
        limitSeconds: 600,
        machine: ["pytorch"],
      },
      {
        name: "e2e",
        what: "all other jobs, as people run them",
        tests: `test/e2e/(?!environments|(${EVERYDAY_JOBS})\\.)`,
        limitSeconds: 2700,
        machine: ["jdk"],
      },
    ],
  }),
  packed,
  ...withoutCluster,
  ...onCluster("secure", {
    options: ["--secure", "--timeline", "--nm-heartbeat-ms", "250", "--label", "none"],
    cores: HALF,
    suites: [
      {
        name: "secure-jobs",
        what: "a job on a cluster that authenticates everybody: Kerberos, tokens, HTTPS, encryption",
        tests: "test/secure/jobs",
        machine: ["pytorch"],
        limitSeconds: 600,
        everyday: true,
      },
      {
        name: "secure",
        what: "every door of that cluster, every token, every secret",
        tests: "test/secure/(?!failover|jobs|httpfs)",
        limitSeconds: 1200,
        needs: ["python-package"],
        machine: ["pytorch", "chromium"],
      },
    ],
  }),
  ...onCluster("environments", {
    cores: HALF,
    suites: [
      {
        name: "documents",
        what: "every command line that README, docs and --help show",
        tests: "test/documents",
        limitSeconds: 2400,
        // Some of those command lines repeat the build that this phase packs.
        after: ["package"],
      },
      ...PYTHON_ENVIRONMENTS.map((name) => ({
        name: `e2e-${name}`,
        what: `jobs of the Python environment ${name}`,
        tests: `test/e2e/environments/${name}`,
        limitSeconds: 900,
        needs: [name],
        turn: TURN_OF_ENVIRONMENT[name],
        // run_on_yarn() trains with Debian's PyTorch.
        machine: name === "python-package" ? /** @type {const} */ (["pytorch"]) : [],
      })),
      {
        name: "browser",
        what: "the pages in a real Chromium, through YARN's proxy too: hostile text, the keyboard alone, both colour schemes, axe-core",
        tests: "test/e2e/environments/browser\\.",
        limitSeconds: 600,
        machine: ["chromium"],
      },
      {
        name: "e2e-node",
        what: "jobs on each release of Node",
        tests: "test/e2e/environments/node\\.",
        limitSeconds: 300,
        needs: NODE_RELEASES.map((major) => `node${major}`),
      },
    ],
  }),
  ...clusterOfItsOwn("faults", {
    what: "programs, executors, masters and daemons killed and stopped under real jobs",
    options: [
      ...["--nm-heartbeat-ms", "250", "--preemption", "--nodes", "3", "--label", "none"],
      // Only root can make namespaces and mounts; without them the tests that disconnect a node and fill its disk are skipped.
      ...(process.getuid?.() === 0 ? ["--isolate", "3", "--small-disk", "3"] : []),
      ...["--set", "yarn.nodemanager.disk-health-checker.interval-ms=500"],
      ...["--set", "yarn.am.liveness-monitor.expiry-interval-ms=10000"],
      ...["--set", "yarn.nm.liveness-monitor.expiry-interval-ms=60000"],
    ],
    tests: "test/faults",
    machine: ["network-tools", "pytorch"],
    cores: HALF,
    limitSeconds: 2400,
  }),
  ...clusterOfItsOwn("ha", {
    what: "ResourceManagers and NameNodes that fail over under real jobs",
    options: ["--ha", "--nm-heartbeat-ms", "250", "--label", "none"],
    tests: "test/ha",
    // It has ten daemons.
    cores: ONE,
    limitSeconds: 1200,
  }),
  ...onCluster("e2e-secure", {
    options: ["--secure", "--httpfs"],
    cores: HALF,
    suites: [
      {
        name: "e2e-secure",
        what: "jobs through the doors of a secure cluster, some of them in turn each day",
        tests: `test/e2e/(${SECURE_JOBS})\\.`,
        limitSeconds: 2700,
      },
      {
        name: "secure-httpfs",
        what: "a job whose files go through an HttpFS, on a cluster that authenticates everybody",
        tests: "test/secure/httpfs",
        limitSeconds: 300,
      },
      {
        name: "e2e-secure-hdfs",
        what: "programs that open that cluster's HDFS by libhdfs, with the job's tokens",
        tests: "test/e2e/environments/hdfs",
        limitSeconds: 300,
        needs: ["hdfs"],
      },
    ],
  }),
  ...clusterOfItsOwn("memory-calculator", {
    what: "jobs under a scheduler that counts only memory, on a node with fewer cores than they ask for; one that the ResourceManager forgot",
    options: [
      ...["--calculator", "default", "--nodes", "1", "--label", "none"],
      ...["--set", "yarn.nodemanager.resource.cpu-vcores=2"],
      ...["--set", "yarn.resourcemanager.max-completed-applications=1"],
    ],
    tests: "test/schedulers/memory-calculator",
    cores: HALF,
    limitSeconds: 300,
    turn: 0,
  }),
  ...clusterOfItsOwn("fair-scheduler", {
    what: "jobs on a cluster that creates queues as jobs name them, stores logs in indexed files, and has another name for GPUs",
    options: [
      ...["--scheduler", "fair", ...INDEXED_LOGS, "--set", "yarn.resource-types=nvidia.com/gpu"],
      ...[
        "--set",
        `yarn.scheduler.fair.allocation.file=${path.resolve("test/fixtures/fair-scheduler/allocations.xml")}`,
      ],
    ],
    tests: "test/schedulers/fair-scheduler",
    cores: HALF,
    limitSeconds: 300,
    turn: 1,
  }),
  ...clusterOfItsOwn("oldest-release", {
    what: "jobs on the oldest release of Hadoop; npm run matrix tries all of them",
    options: ["--release", OLDEST_HADOOP],
    tests: "test/matrix/(jobs|killed-master)",
    cores: HALF,
    limitSeconds: 720,
    jars: "jars-oldest",
    turn: 1,
  }),
  ...clusterOfItsOwn("gateway", {
    what: "jobs whose files go through an HttpFS, a router of HDFS, or a mount table",
    options: ["--httpfs", "--router", "--nodes", "1", "--label", "none"],
    tests: "test/storage",
    cores: HALF,
    limitSeconds: 720,
    turn: 0,
  }),
  ...clusterOfItsOwn("secure-protection", {
    what: "jobs with RPC and HDFS data protected only by integrity, or only by authentication, in turn",
    options: ["--secure", "--protection", ...inTurn(["integrity", "authentication"], 1)],
    tests: "test/matrix/(jobs|killed-master)",
    cores: HALF,
    limitSeconds: 720,
    turn: 2,
  }),
  ...clusterOfItsOwn("secure-ha", {
    what: "a job on encrypted files that both active masters are killed under",
    options: ["--secure", "--ha", "--nodes", "1", "--nm-heartbeat-ms", "250", "--label", "none"],
    tests: "test/secure/failover",
    machine: ["pytorch"],
    cores: HALF,
    limitSeconds: 600,
    turn: 2,
  }),
];
