import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { TonyError } from "./errors.ts";

/** The bundler replaces this by the version and revision. */
declare const TONY_BUILD_ID: string | undefined;

/** A program in its shipped form: one file that needs only Node. */
export type ProgramName = ContainerProgram | "tokens" | "portal" | "tony-ts";

/** The programs that run in containers. */
export type ContainerProgram = "am" | "executor";

/**
 * The folder of this package, found in the same way from the sources, the compiled library and the bundled programs.
 * Throws a TonyError with code `PACKAGE_NOT_FOUND` where no folder above is a package, as in a container.
 */
export function packageRoot(from: string = path.dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (isPackageRoot(folder)) return folder;
    if (folder === path.dirname(folder)) break;
  }
  throw new TonyError(`The package tony-ts was not found in ${from} nor above it`, { code: "PACKAGE_NOT_FOUND" });
}

/** The bundle of a program. Throws a TonyError with code `PROGRAM_NOT_BUILT` when it has not been built. */
export function programPath(name: ProgramName, root: string = packageRoot()): string {
  return builtFile(`${name}.cjs`, root);
}

function builtFile(name: string, root: string): string {
  const file = path.join(root, "dist", "programs", name);
  if (!existsSync(file)) {
    throw new TonyError(`${file} is missing: run \`npm run build\` in ${root}`, { code: "PROGRAM_NOT_BUILT" });
  }
  return file;
}

/** The bundle of the job's page. Throws as `programPath`. */
export function pagePath(root: string = packageRoot()): string {
  return builtFile("page.html", root);
}

/** The Python program that asks Optuna for a search's trials; it runs in the user's Python that has Optuna. Throws as `programPath`. */
export function optunaProgramPath(root: string = packageRoot()): string {
  return builtFile("optuna_trials.py", root);
}

/** This build of tony-ts, for messages to peers and people: `0.1.0+1a2b3c4d5e6f`; outside the bundles only the version. */
export function buildId(): string {
  if (typeof TONY_BUILD_ID === "string") return TONY_BUILD_ID;
  return packageField(packageRoot(), "version") ?? "unknown";
}

function isPackageRoot(folder: string): boolean {
  return existsSync(path.join(folder, "package.json")) && packageField(folder, "name") === "tony-ts";
}

function packageField(folder: string, field: "name" | "version"): string | undefined {
  const parsed: unknown = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
  if (typeof parsed !== "object" || parsed === null) return undefined;
  const value = Object.entries(parsed).find(([key]) => key === field)?.[1];
  return typeof value === "string" ? value : undefined;
}
