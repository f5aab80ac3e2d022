import path from "node:path";
import { packageRoot } from "../../src/programs.ts";
import type { Person } from "./person.ts";
import type { TonyTsResult } from "./tony-ts.ts";

/** The path of an example's job.xml. */
export const exampleJob = (name: string): string => path.join(packageRoot(), "examples", name, "job.xml");

/** Runs an example as its readers do, with this Python, and shows the output of all tasks. */
export const runExample = (
  person: Person,
  python: string,
  name: string,
  ...more: readonly string[]
): Promise<TonyTsResult> =>
  person.run("submit", "--conf", exampleJob(name), "--shell_env", `PYTHON=${python}`, "--logs", "all", ...more);
