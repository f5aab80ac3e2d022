import fs from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../../../src/hadoop/errors.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/** Whether an entry of a folder stays behind when the folder is sent. */
export type Exclusion = (entry: {
  /** Relative to the folder. */
  readonly path: string;
  readonly source: string;
  readonly isFolder: boolean;
}) => Promise<boolean>;

/** In the root of a folder: what of it does not travel. */
const ignoreFile = ".tonyignore";

/** The history of a program is no part of it, whatever folder it lies in. */
const history = [".git", ".hg", ".svn"];
/** What tools leave in the folder that a person works in, and make anew where it is missing. */
const leftByTools = [
  ...["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox", ".nox"],
  ...[".venv", "node_modules", ".idea", ".vscode", ".DS_Store"],
];

/**
 * What stays behind of a folder: what its `.tonyignore` says, version control, and of a working folder (`--src_dir`) what tools leave in it
 * and virtual environments under whatever name. A folder that is named as a resource or an environment is wanted as it is.
 */
export async function exclusionOf(folder: string, as: FileToShip["as"]): Promise<Exclusion> {
  const workingFolder = as === "working-directory";
  const own = await readIfThere(path.join(folder, ignoreFile));
  const rules = new IgnoreRules([...history, ...(workingFolder ? leftByTools : []), own].join("\n"));
  return async ({ path: entry, source, isFolder }) => {
    const verdict = rules.verdict(entry, isFolder);
    if (verdict !== undefined) return verdict === "leave-out";
    return workingFolder && isFolder && (await isVirtualEnvironment(source));
  };
}

/** PEP 405: what makes a folder one. */
async function isVirtualEnvironment(folder: string): Promise<boolean> {
  return fs.access(path.join(folder, "pyvenv.cfg")).then(
    () => true,
    () => false,
  );
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await fs.readFile(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  }
}
