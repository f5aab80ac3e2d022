#!/usr/bin/env node
// The shortest way from a fresh clone to a distributed training on a real Hadoop: does all its own set-up.
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { down } from "./cluster/down.mjs";
import { CHECKOUT, layout } from "./cluster/folders.mjs";
import { progressTo } from "./cluster/progress.mjs";
import { up } from "./cluster/up.mjs";
import { installPackages } from "./install.mjs";
import { checkPrerequisites, findPython } from "./prerequisites.mjs";
import { Problem, runMain } from "./problem.mjs";

const USAGE = `Trains examples/pytorch-digits on a real Hadoop cluster started here.

  npm run demo              leaves the cluster up and says how to use and stop it
  npm run demo -- --once    stops the cluster afterwards`;

const run = promisify(execFile);
const JOB = "examples/pytorch-digits/job.xml";

await runMain(async () => {
  const { once, help } = parseCommandLine();
  if (help) {
    console.log(USAGE);
    return 0;
  }
  console.log(
    "Trains a PyTorch model on 2 workers of a real Hadoop 3.4.2, started here. First run: about 2 min, 250 MB to download.",
  );
  const python = await introduceMachine();
  const progress = progressTo(process.stdout);
  await progress.step("npm packages", async () => ((await installPackages()) ? "" : "up to date"));
  await progress.step("build", buildPrograms);
  const cluster = await up("default", {}, progress);
  const exitCode = await submit(cluster, python);
  if (once) await down("default", {});
  else if (exitCode === 0) console.log(whatNext());
  return exitCode;
});

function parseCommandLine() {
  try {
    return parseArgs({ options: { once: { type: "boolean" }, help: { type: "boolean", short: "h" } } }).values;
  } catch (cause) {
    throw new Problem(`${cause.message}\n\n${USAGE}`, { exitCode: 2, cause });
  }
}

/** Names what is missing before anything else runs; otherwise says what was found. */
async function introduceMachine() {
  const found = await checkPrerequisites(["node", "java", "maven", "python", "container-tools", "accounts"]);
  const python = await findPython(["torch", "sklearn"]);
  if (python === undefined) {
    const sudo = process.getuid() === 0 ? "" : "sudo ";
    throw new Problem(
      `No Python 3 here can import torch and sklearn (tried python3 on PATH, then /usr/bin/python3).\n` +
        `On Debian or Ubuntu this line gets them:\n  ${sudo}apt-get install -y python3-torch python3-sklearn`,
      { exitCode: 2 },
    );
  }
  const versions = "import torch, sklearn; print(torch.__version__, sklearn.__version__)";
  const [torch, sklearn] = (await run(python.command, ["-c", versions])).stdout.trim().split(" ");
  console.log(
    `  ✓ Node ${found.node} · Java ${found.java?.version} · Maven ${found.maven?.version} · ` +
      `${python.command} ${python.version} (torch ${torch}, scikit-learn ${sklearn})`,
  );
  return { command: python.command, isDefault: python.command === found.python?.command };
}

async function buildPrograms() {
  try {
    await run(process.execPath, [join(CHECKOUT, "scripts", "build.mjs")], { cwd: CHECKOUT });
  } catch (cause) {
    throw new Problem(`The build failed:\n${cause.stdout}${cause.stderr}`, { cause });
  }
  return "";
}

/** Runs `tony-ts submit` as a person would, on this terminal. */
function submit(cluster, python) {
  const { bin, conf } = layout(cluster.state);
  const args = ["submit", "--conf", JOB, ...(python.isDefault ? [] : ["--shell_env", `PYTHON=${python.command}`])];
  console.log(`$ tony-ts ${args.join(" ")}`);
  return new Promise((resolve, reject) => {
    const child = spawn(join(bin, "tony-ts"), args, {
      cwd: CHECKOUT,
      stdio: "inherit",
      env: { ...process.env, HADOOP_CONF_DIR: conf },
    });
    // A Ctrl-C reaches the child as well: it ends the job and says so, and this process waits for that.
    process.on("SIGINT", () => {});
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

function whatNext() {
  return [
    "The cluster is still running. Now yours:",
    '  eval "$(npm run -s cluster -- env)"     # HADOOP_CONF_DIR and tony-ts on PATH, for this shell',
    "  tony-ts init pytorch && tony-ts submit --conf job.xml",
    "  npm run cluster -- down                 # stops all 5 daemons",
  ].join("\n");
}
