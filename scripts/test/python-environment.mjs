#!/usr/bin/env node
// A Python with the packages of one of python-environments.mjs, for the tests: kept in the user's cache, created on first
// use. Prints the interpreter's path: node scripts/test/python-environment.mjs tensorflow
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder, mayEnter } from "../cluster/folders.mjs";
import { findPython } from "../prerequisites.mjs";
import { Problem, printedBy, runMain } from "../problem.mjs";
import { ENVIRONMENTS } from "./python-environments.mjs";

/** It resumes aborted downloads, unlike the pip of many systems. */
const PIP = "pip==26.3";
/** A download is given up when no byte has arrived for a minute, never because of its length; an aborted one resumes where it stopped. */
const PATIENCE = ["--timeout", "60", "--retries", "8"];
const RESUMED = ["--resume-retries", "20"];
const run = promisify(execFile);

/**
 * @param {string | undefined} name of an environment
 * @returns {Promise<string>} its interpreter, which the users of the cluster's daemons can run too
 */
async function provideEnvironment(name) {
  const environment = Object.hasOwn(ENVIRONMENTS, name ?? "") ? ENVIRONMENTS[name ?? ""] : undefined;
  if (environment === undefined) {
    throw new Problem(`Name an environment: ${Object.keys(ENVIRONMENTS).join(", ")}`, { exitCode: 2 });
  }
  const { onDebians } = environment;
  // Containers could not run a Python that only one user can reach, such as pyenv's in root's home.
  const python = await findPython(["venv", "ensurepip", ...(onDebians?.modules ?? [])], mayEnter);
  if (python === undefined) throw noPython(onDebians);
  const folder = join(cacheFolder(), `python-${name}-${await lockOf(environment, python)}`);
  await provideFolder(folder, (draft) => install(python.command, environment, draft));
  const interpreter = join(folder, "bin", "python3");
  const program = onDebians?.extensions;
  if (program !== undefined) {
    await provideFolder(`${folder}-extensions`, (draft) => compileExtensions(interpreter, program, draft));
  }
  return interpreter;
}

/**
 * A hash of everything that an environment consists of and depends on: it is created once for each.
 * @param {import("./python-environments.mjs").Environment} environment
 * @param {{ command: string, version: string }} python
 */
async function lockOf(environment, python) {
  const modules = environment.onDebians?.modules ?? [];
  const program = `${modules.map((module) => `import ${module}; print(${module}.__version__)`).join("\n")}`;
  const { stdout: versions } = await run(python.command, ["-c", program]);
  return createHash("sha256")
    .update(JSON.stringify([PIP, environment, python.version, versions]))
    .digest("hex")
    .slice(0, 8);
}

/** @param {import("./python-environments.mjs").OnDebians} [onDebians] */
function noPython(onDebians) {
  const wanted = ["python3-venv", onDebians?.packages].filter(Boolean).join(" ");
  const what = ["can make a virtual environment", ...(onDebians?.modules ?? []).map((name) => `import ${name}`)];
  return new Problem(`No Python 3 that ${what.join(" and ")}. On Debian: apt-get install -y ${wanted}`, {
    exitCode: 2,
  });
}

/**
 * The folder is renamed afterwards: the scripts that pip writes into `bin` name the wrong interpreter, and must not be
 * used.
 * @param {string} python
 * @param {import("./python-environments.mjs").Environment} environment
 * @param {string} folder
 */
async function install(python, { requirements, onDebians }, folder) {
  await command(requirements, python, ["-m", "venv", ...(onDebians ? ["--system-site-packages"] : []), folder]);
  const interpreter = join(folder, "bin", "python3");
  /** @param {readonly string[]} what @param {readonly string[]} args @param {RunOptions} [options] */
  const pip = (what, args, options) =>
    command(what, interpreter, ["-m", "pip", "install", "--quiet", ...PATIENCE, ...args], options);
  await pip([PIP], [PIP]);
  await pip(requirements, [...RESUMED, ...requirements]);
  if (onDebians === undefined) return;
  const { source, settings, packages } = onDebians;
  const path = [join(folder, "bin"), process.env.PATH].join(delimiter);
  const env = { ...process.env, ...settings, PATH: path, MAKEFLAGS: `-j${availableParallelism()}` };
  // pip's cache of builds does not record what they were built against.
  const args = [...RESUMED, "--no-cache-dir", "--no-deps", "--no-build-isolation", source];
  await pip([`${source}, with Debian's ${packages},`], args, { env, gently: true });
}

/**
 * Wherever an extension is used, PyTorch checks whether it is up to date, and writes to its folder: containers run as other
 * users.
 * @param {string} interpreter
 * @param {string} program
 * @param {string} folder
 */
async function compileExtensions(interpreter, program, folder) {
  await mkdir(folder);
  const env = { ...process.env, TORCH_EXTENSIONS_DIR: folder };
  await command(["extensions of PyTorch"], interpreter, ["-c", program], { env, gently: true });
  await run("chmod", ["-R", "a+rwX", folder]);
}

/**
 * @typedef {{ env?: NodeJS.ProcessEnv, gently?: boolean }} RunOptions `gently`: at a lower priority than other work
 *
 * @param {readonly string[]} what for messages
 * @param {string} program
 * @param {readonly string[]} args
 * @param {RunOptions} [options]
 */
async function command(what, program, args, { env = process.env, gently = false } = {}) {
  const started = gently ? "nice" : program;
  const words = gently ? [program, ...args] : args;
  try {
    await run(started, words, { env, maxBuffer: 64 << 20 });
  } catch (cause) {
    const lines = printedBy(cause).trim().split("\n");
    // A compiler's own words come long before pip's last ones.
    const compilers = lines.filter((line) => /\b(fatal )?error: /.test(line));
    const shown = (compilers.length > 0 ? compilers : lines).slice(-5);
    const message = `${what.join(", ")} could not be installed from PyPI:`;
    throw new Problem([message, ...shown.map((line) => `  ${line}`)].join("\n"), { cause });
  }
}

await runMain(async () => console.log(await provideEnvironment(process.argv[2])));
