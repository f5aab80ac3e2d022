import { RELEASES } from "../cluster/releases.mjs";
import { nodeRelease, ONE, WAITING } from "./phase.mjs";
import { ENVIRONMENTS } from "./python-environments.mjs";

/** The Python packages with which examples and tests run (python-environment.mjs); each has a file in test/e2e/environments. */
export const PYTHON_ENVIRONMENTS = Object.keys(ENVIRONMENTS);

export const NODE_RELEASES = ["20", "22", "24"];

export const [OLDEST_HADOOP = ""] = Object.keys(RELEASES);

/** @type {readonly import("./phase.mjs").Phase[]} */
const steps = [
  {
    name: "packages",
    what: "npm ci, when the lock file changed",
    command: ["node", "scripts/install.mjs"],
    cores: ONE,
    limitSeconds: 900,
    needs: [],
  },
  {
    name: "jars",
    what: "Hadoop's jars, when the cache has none",
    command: ["node", "scripts/cluster.mjs", "jars"],
    cores: WAITING,
    limitSeconds: 900,
    needs: [],
    machine: ["java", "maven"],
  },
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
    name: "jars-oldest",
    what: "those of the oldest release, when the cache has none",
    command: ["node", "scripts/cluster.mjs", "jars", "--release", OLDEST_HADOOP],
    cores: WAITING,
    limitSeconds: 900,
    // Only one Maven at a time can use Maven's local repository.
    needs: ["jars"],
  },
  ...PYTHON_ENVIRONMENTS.map((name) => ({
    name,
    what: "Python packages that examples and tests run with, when the cache has none",
    command: ["node", "scripts/test/python-environment.mjs", name],
    // Compiles with the CPU time that others leave.
    cores: WAITING,
    // A download ends by itself when no more data arrives, however long it takes in total.
    limitSeconds: 3600,
    needs: [],
    // Everything else waits for these: on a slow machine nothing should be unpacked at the same time.
    after: ["packages"],
    machine: machineFor(name),
  })),
  ...NODE_RELEASES.map((major) => ({
    name: `node${major}`,
    what: `Node ${major}, when the cache has none`,
    command: nodeRelease(major),
    cores: WAITING,
    limitSeconds: 900,
    needs: [],
  })),
];

/** The phases that others are built on: packages, jars, other runtimes, the build. */
export const preparations = steps.map((phase) => ({ ...phase, prepares: true }));

/** @param {string} name of an environment @returns {readonly import("../prerequisites.mjs").Prerequisite[]} */
function machineFor(name) {
  return ENVIRONMENTS[name]?.onDebians === undefined ? ["venv"] : ["venv", "pytorch", "compiler"];
}
