import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";

const run = promisify(execFile);

/** The interpreter that can import these modules. */
export function pythonWith(...modules: readonly string[]): Promise<string> {
  return printedBy("python.mjs", ...modules);
}

/** An interpreter with TensorFlow, with DeepSpeed, with Horovod, with JAX, Ray, Dask and Open MPI, or with JupyterLab, which are downloaded on first use. */
export function pythonEnvironment(
  name: "tensorflow" | "deepspeed" | "horovod" | "frameworks" | "notebook",
): Promise<string> {
  return printedBy("python-environment.mjs", name);
}

/** The executable of another release of Node, which is downloaded on first use. */
export function nodeRelease(major: 20 | 22 | 24): Promise<string> {
  return printedBy("node-runtime.mjs", String(major));
}

async function printedBy(script: string, ...words: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [path.join(packageRoot(), "scripts", "test", script), ...words]);
  return stdout.trim();
}
