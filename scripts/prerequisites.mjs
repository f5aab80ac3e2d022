import { execFile } from "node:child_process";
import { access, constants, readdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { Problem } from "./problem.mjs";

const run = promisify(execFile);
const MINIMUM_NODE = { major: 20, minor: 19 };
const JAVA_MAJOR = 17;
const PYTORCH_HEADERS = "/usr/include/torch/csrc/api/include/torch/torch.h";

/**
 * What this machine needs before anything of ours runs, each with the command that installs it.
 * @typedef {"node" | "java" | "jdk" | "maven" | "python" | "venv" | "pytorch" | "compiler" | "container-tools" | "accounts" | "network-tools" |
 * "kerberos" | "image-tools" | "chromium" | "prometheus"} Prerequisite
 * @typedef {object} Found
 * @property {string} node version
 * @property {{ home: string, version: string } | undefined} [java]
 * @property {{ command: string, version: string }} [maven]
 * @property {{ command: string, version: string } | undefined} [python]
 */

/**
 * Checks the requested prerequisites, and names all missing ones in one message.
 * @param {readonly Prerequisite[]} wanted
 * @returns {Promise<Found>}
 */
export async function checkPrerequisites(wanted) {
  const { found, missing } = await lookForPrerequisites(wanted);
  if (missing.length > 0) throw new Problem(describeMissing(missing), { exitCode: 2 });
  return found;
}

/**
 * @param {readonly Prerequisite[]} wanted
 * @returns {Promise<{ found: Found, missing: Missing[] }>}
 */
export async function lookForPrerequisites(wanted) {
  /** @type {Missing[]} */
  const missing = [];
  /** @type {Found} */
  const found = { node: process.versions.node };
  for (const name of wanted) {
    const problem = await CHECKS[name](found);
    if (problem !== undefined) missing.push(problem);
  }
  return { found, missing };
}

/** @typedef {{ what: string, debianPackage?: string, otherwise?: string }} Missing */

/** @type {Record<Prerequisite, (found: Found) => Promise<Missing | undefined>>} */
const CHECKS = {
  async node() {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    const least = MINIMUM_NODE;
    if (major > least.major || (major === least.major && minor >= least.minor)) return undefined;
    return {
      what: `Node ${least.major}.${least.minor} or newer (this is ${process.versions.node} at ${process.execPath})`,
      otherwise: "get it from https://nodejs.org/en/download, or: npm exec --yes n -- 22",
    };
  },
  async java(found) {
    found.java = await findJava();
    if (found.java !== undefined) return undefined;
    return {
      what: `Java ${JAVA_MAJOR} (looked at JAVA_HOME, PATH and /usr/lib/jvm)`,
      debianPackage: "openjdk-17-jre-headless",
    };
  },
  async jdk(found) {
    found.java = await findJava("javac");
    if (found.java !== undefined) return undefined;
    return {
      what: `a JDK ${JAVA_MAJOR}: Java with its compiler (looked at JAVA_HOME, PATH and /usr/lib/jvm)`,
      debianPackage: "openjdk-17-jdk-headless",
    };
  },
  async maven(found) {
    const output = await firstOutput("mvn", ["--version"], { JAVA_HOME: found.java?.home });
    const version = output?.match(/Apache Maven ([\w.-]+)/)?.[1];
    if (version === undefined) return { what: "Maven (no mvn on PATH)", debianPackage: "maven" };
    found.maven = { command: "mvn", version };
    return undefined;
  },
  async python(found) {
    // Debian's python3-minimal has only a part of the standard library.
    found.python = await findPython(["json"]);
    return found.python === undefined
      ? { what: "Python 3 with its standard library (no python3 on PATH that has it)", debianPackage: "python3" }
      : undefined;
  },
  venv: async () =>
    (await findPython(["venv", "ensurepip"])) === undefined
      ? { what: "a Python 3 that can make virtual environments", debianPackage: "python3-venv" }
      : undefined,
  pytorch: async () =>
    (await findPython(["torch"])) === undefined
      ? { what: "a Python 3 that can import torch", debianPackage: "python3-torch" }
      : undefined,
  /** Compiles extensions of Debian's PyTorch. */
  compiler: async () =>
    (await onPath("g++")) === undefined || (await onPath("make")) === undefined || !(await isReadable(PYTORCH_HEADERS))
      ? {
          what: "g++, make and the headers of Debian's PyTorch, which Horovod is compiled with",
          debianPackage: "g++ make python3-dev libtorch-dev pybind11-dev",
        }
      : undefined,
  /** NodeManagers start containers with `setsid bash`. */
  "container-tools": async () =>
    (await onPath("bash")) === undefined || (await onPath("setsid")) === undefined
      ? { what: "bash and setsid, which NodeManagers start containers with", debianPackage: "bash util-linux" }
      : undefined,
  /** Only root can run daemons as other users, and creates them when they are absent. */
  accounts: async () =>
    process.getuid?.() === 0 && (await onPath("useradd")) === undefined
      ? { what: "useradd, which makes the users hdfs and yarn", debianPackage: "passwd" }
      : undefined,
  "network-tools": async () =>
    (await onPath("ip")) === undefined
      ? { what: "ip, which cuts a node's network in tests", debianPackage: "iproute2" }
      : undefined,
  kerberos: async () =>
    (await Promise.all(["krb5kdc", "kadmin.local", "kinit", "openssl"].map(onPath))).includes(undefined)
      ? {
          what: "a Kerberos KDC and its tools, for secure clusters",
          debianPackage: "krb5-kdc krb5-admin-server krb5-user openssl",
        }
      : undefined,
  "image-tools": async () =>
    (await onPath("buildah")) === undefined || (await onPath("mmdebstrap")) === undefined
      ? { what: "buildah and mmdebstrap, which build the images without Docker", debianPackage: "buildah mmdebstrap" }
      : undefined,
  chromium: async () =>
    (await onPath("chromium")) === undefined
      ? { what: "Chromium, which pages are looked at with", debianPackage: "chromium" }
      : undefined,
  prometheus: async () =>
    (await onPath("prometheus")) === undefined || (await onPath("promtool")) === undefined
      ? { what: "Prometheus and its promtool, which read what the portal exposes", debianPackage: "prometheus" }
      : undefined,
};

/** @param {Missing[]} missing */
function describeMissing(missing) {
  const lines = ["This machine lacks:", ...missing.map(({ what }) => `  ✗ ${what}`)];
  const packages = missing.flatMap(({ debianPackage }) => debianPackage ?? []);
  if (packages.length > 0) {
    const sudo = process.getuid?.() === 0 ? "" : "sudo ";
    lines.push("On Debian or Ubuntu, install it with:", `  ${sudo}apt-get install -y ${packages.join(" ")}`);
  }
  lines.push(...missing.flatMap(({ otherwise }) => (otherwise === undefined ? [] : [`  ${otherwise}`])));
  return lines.join("\n");
}

/**
 * A Java of exactly this major version: Hadoop 3.4 runs on 17, and what `java` means may be newer or older.
 * @param {string} [program] that it must contain: a JRE has no `javac`
 * @returns {Promise<{ home: string, version: string } | undefined>}
 */
export async function findJava(program = "java") {
  for (const home of await javaHomes()) {
    if (!(await isExecutable(join(home, "bin", program)))) continue;
    const output = await firstOutput(join(home, "bin", "java"), ["-XshowSettings:properties", "-version"]);
    const version = output?.match(/java\.version = (\S+)/)?.[1];
    const realHome = output?.match(/java\.home = (.+)/)?.[1]?.trim();
    if (version?.split(".")[0] === String(JAVA_MAJOR)) return { home: realHome ?? home, version };
  }
  return undefined;
}

async function javaHomes() {
  const homes = process.env.JAVA_HOME ? [process.env.JAVA_HOME] : [];
  const command = await onPath("java");
  if (command !== undefined) homes.push(dirname(dirname(command)));
  for (const folder of ["/usr/lib/jvm", "/opt/java"]) {
    const names = await readdir(folder).catch(() => []);
    homes.push(...names.sort().map((name) => join(folder, name)));
  }
  return homes;
}

/**
 * The first interpreter that can import every module: `python3` on PATH, then the system's own.
 * @param {readonly string[]} modules
 * @param {(executable: string) => boolean} [suits] checks further conditions
 * @returns {Promise<{ command: string, version: string } | undefined>}
 */
export async function findPython(modules, suits = () => true) {
  const program = `${modules.map((name) => `import ${name}\n`).join("")}import platform, sys\nprint(sys.executable, platform.python_version())`;
  for (const command of ["python3", "/usr/bin/python3"]) {
    const [executable, version] = (await firstOutput(command, ["-c", program]))?.trim().split(" ") ?? [];
    if (executable && version?.startsWith("3.") && suits(executable)) return { command: executable, version };
  }
  return undefined;
}

/**
 * The command's output on both streams; undefined when it cannot run or fails.
 * @param {string} command @param {readonly string[]} args @param {NodeJS.ProcessEnv} [extraEnvironment]
 */
async function firstOutput(command, args, extraEnvironment = {}) {
  try {
    const { stdout, stderr } = await run(command, args, {
      env: { ...process.env, ...extraEnvironment },
      timeout: 60_000,
    });
    return stdout + stderr;
  } catch {
    return undefined;
  }
}

/** The full path of a command, looked up as a shell would. @param {string} command @returns {Promise<string | undefined>} */
export async function onPath(command) {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, command);
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/** @param {string} path */
const isExecutable = (path) => isAllowed(path, constants.X_OK);
/** @param {string} path */
const isReadable = (path) => isAllowed(path, constants.R_OK);
/** @param {string} path @param {number} mode */
const isAllowed = (path, mode) =>
  access(path, mode).then(
    () => true,
    () => false,
  );
