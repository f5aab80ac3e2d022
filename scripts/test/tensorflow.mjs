#!/usr/bin/env node
// A Python that can import TensorFlow, for the tests: kept in the user's cache, made on first use (about 280 MB to download).
// Prints the interpreter's path.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder, mayEnter } from "../cluster/folders.mjs";
import { findPython } from "../prerequisites.mjs";
import { Problem, runMain } from "../problem.mjs";

const VERSION = "2.21.0";
const run = promisify(execFile);

/** @returns {Promise<string>} the interpreter, which the users of the cluster's daemons can run too */
async function provideTensorFlow() {
  // What belongs to one user alone, pyenv's in root's home for one, containers could not run.
  const python = await findPython(["venv", "ensurepip"], mayEnter);
  if (python === undefined) {
    throw new Problem("No Python 3 that can make a virtual environment. On Debian: apt-get install -y python3-venv", {
      exitCode: 2,
    });
  }
  const minor = python.version.split(".").slice(0, 2).join(".");
  const folder = join(cacheFolder(), `tensorflow-cpu-${VERSION}-python${minor}`);
  await provideFolder(folder, (draft) => install(python.command, draft));
  return join(folder, "bin", "python3");
}

async function install(python, folder) {
  const requirement = `tensorflow-cpu==${VERSION}`;
  try {
    await run(python, ["-m", "venv", folder]);
    await run(join(folder, "bin", "python3"), ["-m", "pip", "install", "--quiet", requirement], {
      maxBuffer: 16 << 20,
    });
  } catch (cause) {
    const lines = String(cause.stderr ?? cause.message)
      .trim()
      .split("\n")
      .slice(-5);
    throw new Problem(
      [`${requirement} could not be installed from PyPI:`, ...lines.map((line) => `  ${line}`)].join("\n"),
      {
        cause,
      },
    );
  }
}

await runMain(async () => console.log(await provideTensorFlow()));
