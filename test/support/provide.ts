import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";

const run = promisify(execFile);

type Environment =
  | "dask"
  | "deepspeed"
  | "hdfs"
  | "horovod"
  | "jax"
  | "mpi"
  | "notebook"
  | "python-package"
  | "ray"
  | "tensorflow";

/** The interpreter that can import these modules. */
export function pythonWith(...modules: readonly string[]): Promise<string> {
  return printedBy("python.mjs", ...modules);
}

/** An interpreter of one of the environments in scripts/test/python-environments.mjs, which is made on first use. */
export function pythonEnvironment(name: Environment): Promise<string> {
  return printedBy("python-environment.mjs", name);
}

/** Hadoop's libhdfs.so, which is compiled on first use from what that interpreter's pip downloads. */
export function libhdfs(python: string): Promise<string> {
  return printedBy("libhdfs.mjs", python);
}

/** The executable of another release of Node, which is downloaded on first use. */
export function nodeRelease(major: 20 | 22 | 24): Promise<string> {
  return printedBy("node-runtime.mjs", String(major));
}

async function printedBy(script: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [path.join(packageRoot(), "scripts", "test", script), ...words]);
  return stdout.trim();
}
