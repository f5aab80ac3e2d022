#!/usr/bin/env node
// The shortest way from a fresh clone to distributed training on a real Hadoop, including all set-up.
import { execFile, spawn } from "node:child_process";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { down } from "./cluster/down.mjs";
import { CHECKOUT, layout, mayEnter } from "./cluster/folders.mjs";
import { jarsFolder } from "./cluster/jars.mjs";
import { progressTo } from "./cluster/progress.mjs";
import { DEFAULT_RELEASE } from "./cluster/releases.mjs";
import { prepareJars, start } from "./cluster/up.mjs";
import { installPackages } from "./install.mjs";
import { checkPrerequisites, findPython, lookForPrerequisites } from "./prerequisites.mjs";
import { Problem, printedBy, runMain, wordsOf } from "./problem.mjs";
import { askToInstall } from "./system-packages.mjs";

/** @import { Found, Prerequisite } from "./prerequisites.mjs" */

const USAGE = `Trains examples/digits on a real Hadoop cluster started here, and installs what that needs.

  npm run demo              leaves the cluster up and says how to use and stop it
  npm run demo -- --yes     installs the system's packages that are missing without a question
  npm run demo -- --once    stops the cluster afterwards`;

const run = promisify(execFile);
const JOB = "examples/digits/job.xml";
/** In the home of the person who runs it, on the cluster's HDFS: the portal shows it. */
const HISTORY = `tony.history.location=/user/${userInfo().username}/tony-history`;
const PROGRAM = join(CHECKOUT, "dist", "programs", "tony-ts.cjs");
/** Where daemons and the containers that they start look for programs. */
const FOLDERS_OF_DAEMONS = ["/usr/local/bin", "/usr/bin"];

await runMain(async () => {
  const { once, yes, help } = parseCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  await checkPrerequisites(["node"]);
  const { cached: hasJars } = await jarsFolder(DEFAULT_RELEASE);
  console.log(
    `Trains a small neural network on 2 workers of a real Hadoop ${DEFAULT_RELEASE}, started here.` +
      (hasJars ? "" : " The first run takes about 2 min and downloads up to 280 MB."),
  );
  const plan = await planFor(yes, hasJars);
  const progress = progressTo(process.stdout);
  if (plan.withoutHadoop !== undefined) return await demonstrateHere(plan, progress);
  return await demonstrateHadoop(plan, progress, once);
});

function parseCommandLine() {
  try {
    return parseArgs({
      options: {
        once: { type: "boolean", default: false },
        yes: { type: "boolean", short: "y", default: false },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (cause) {
    throw new Problem(`${wordsOf(cause)}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/**
 * Reports what this machine has and lacks, and asks for permission to install.
 * @typedef {object} Plan
 * @property {() => Promise<void>} [install] installs what the system lacks
 * @property {string} [withoutHadoop] why no cluster is started
 *
 * @typedef {ReturnType<typeof progressTo>} Progress
 *
 * @param {boolean} yes
 * @param {boolean} hasJars whether an earlier run has fetched Hadoop's
 * @returns {Promise<Plan>}
 */
async function planFor(yes, hasJars) {
  /** @type {Prerequisite[]} */
  const wanted = ["java", "python", "container-tools", "accounts"];
  if (!hasJars) wanted.push("maven");
  const { found, missing } = await lookForPrerequisites(wanted);
  console.log(describeFound(found));
  if (missing.length === 0) return {};
  for (const { what } of missing) console.log(`  ✗ ${what}`);
  const installer = await askToInstall(
    missing.flatMap(({ debianPackage }) => debianPackage?.split(" ") ?? []),
    { yes },
  );
  if (!("refusal" in installer)) return { install: installer.install };
  const { refusal } = installer;
  if (found.python === undefined) {
    throw new Problem(
      `Nothing was installed: ${refusal}. Without Python 3 not even this machine alone can run the job.`,
      {
        exitCode: 2,
      },
    );
  }
  return { withoutHadoop: refusal };
}

/** @param {Found} found */
function describeFound({ node, java, maven, python }) {
  return [
    `  ✓ Node ${node}`,
    java && `Java ${java.version}`,
    maven && `Maven ${maven.version}`,
    python && `${python.command} ${python.version}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

/**
 * Installs the packages of npm and of the system concurrently; then fetches Hadoop's jars during the build.
 * @param {Plan} plan @param {Progress} progress @param {boolean} once
 */
async function demonstrateHadoop({ install }, progress, once) {
  const hadoop = async () => {
    if (install !== undefined) await progress.step("system packages", () => install().then(() => ""));
    return await prepareJars({}, progress);
  };
  const [jars] = await Promise.all([hadoop(), makePrograms(progress)]);
  const cluster = await start("default", {}, jars, progress);
  const { bin, conf } = layout(cluster.state);
  const python = await findPython(["json"], mayEnter);
  const isFound = python === undefined || FOLDERS_OF_DAEMONS.includes(dirname(python.command));
  const shell = isFound ? [] : ["--shell_env", `PYTHON=${python.command}`];
  const more = [...shell, "--conf", HISTORY];
  const exitCode = await submit(join(bin, "tony-ts"), more, { HADOOP_CONF_DIR: conf });
  if (once) await down("default", {});
  else if (exitCode === 0) console.log(whatNext());
  return exitCode;
}

/** The same job without a cluster. @param {Plan} plan @param {Progress} progress */
async function demonstrateHere({ withoutHadoop }, progress) {
  console.log(`No Hadoop is started: ${withoutHadoop}. The same job runs on this machine alone.`);
  await makePrograms(progress);
  const exitCode = await submit(process.execPath, ["--scheduler", "local"], {}, [PROGRAM]);
  if (exitCode === 0) console.log(whatWasNotShown());
  return exitCode;
}

/** @param {Progress} progress */
async function makePrograms(progress) {
  await progress.step("npm packages", async () => ((await installPackages({ forBuild: true })) ? "" : "up to date"));
  await progress.step("build", buildPrograms);
}

async function buildPrograms() {
  try {
    await run(process.execPath, [join(CHECKOUT, "scripts", "build.mjs")], { cwd: CHECKOUT });
  } catch (cause) {
    throw new Problem(`The build failed:\n${printedBy(cause)}`, { cause });
  }
  return "";
}

/**
 * Runs `tony-ts submit` on this terminal, as a person would.
 * @param {string} program @param {string[]} options @param {NodeJS.ProcessEnv} environment
 * @param {string[]} [before] arguments of the program in front of the command
 * @returns {Promise<number>}
 */
function submit(program, options, environment, before = []) {
  const args = ["submit", "--conf", JOB, ...options];
  console.log(`$ tony-ts ${args.join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...before, ...args], {
      cwd: CHECKOUT,
      stdio: "inherit",
      env: { ...process.env, ...environment },
    });
    // Ctrl-C reaches the child as well: it ends the job and says so, and this process waits for that.
    process.on("SIGINT", () => {});
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function whatNext() {
  return [
    "The cluster is still running. Now yours:",
    '  eval "$(npm run -s cluster -- env)"     # HADOOP_CONF_DIR and tony-ts on PATH, for this shell',
    "  tony-ts init hello && tony-ts submit --conf job.xml",
    `  tony-ts portal --conf ${HISTORY}     # http://127.0.0.1:19886/: this job, its charts and logs`,
    "  npm run cluster -- down                 # stops all 5 daemons",
  ].join("\n");
}

function whatWasNotShown() {
  return [
    "Not shown: a real Hadoop. There the two workers run in YARN's containers on two nodes, their files and checkpoints are on HDFS,",
    "and the job has a queue, logs and a page on the cluster. To see that, install what is missing and run this again.",
  ].join("\n");
}
