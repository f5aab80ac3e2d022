import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { moduleNameOf } from "../../src/job/diagnosis/complaints.ts";
import type { ChildExit, Misnamed } from "../../src/job/execution.ts";
import { ownerOf } from "../../src/job/launch/container-names.ts";
import { nearest } from "../../src/job/nearest.ts";

type Missing = Pick<Misnamed, "kind" | "missing">;

const NO_MODULE = /^(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?$/;
/** How Python, shells, and programs that print errno say that a file does not exist. */
const NO_FILE = /no such file or directory/i;
/** In these quotes, or in ‘ and ’, which the bundle cannot contain literally (scripts/build.mjs). */
const QUOTED = /(?<!\w)['"\u2018`]([^'"\u2018\u2019`]+)['"\u2019`]/;
const BEFORE_WORDS = /(?:^|: )([^:\s]+)(?:: cannot open)?: no such file or directory$/i;

/** A virtual environment has more files than are searched here. */
const MOST_ENTRIES = 5_000;
const DEEPEST = 4;
const NOT_LOOKED_INTO = new Set(["site-packages", "node_modules", "__pycache__"]);

/** What a program that failed for want of a file or module may have meant: an entry of its working directory with a similar name. */
export async function misnamedBy(exit: ChildExit, workFolder: string): Promise<Pick<ChildExit, "misnamed">> {
  const missing = missingTo(exit, workFolder);
  if (missing === undefined) return {};
  const found = await likeIt(missing, workFolder).catch(() => undefined);
  return found === undefined || found === missing.missing ? {} : { misnamed: { ...missing, found } };
}

function missingTo(exit: ChildExit, workFolder: string): Missing | undefined {
  const { exitCode, stopReason, errorSummary, errorOrigin, lastLines } = exit;
  if (exitCode === 0 || stopReason !== undefined) return undefined;
  // The program tried another way after a missing module.
  const isOther = errorOrigin === undefined || (errorOrigin.how === "context" && NO_MODULE.test(errorOrigin.error));
  const said = errorSummary === "" ? lastLines.slice(-1) : [errorSummary, ...(isOther ? [] : [errorOrigin.error])];
  return said.map((line) => missingIn(line, workFolder)).find((missing) => missing !== undefined);
}

function missingIn(line: string, workFolder: string): Missing | undefined {
  const [, module] = NO_MODULE.exec(line) ?? [];
  if (module !== undefined) return { kind: "module", missing: module };
  // For a file that is renamed, both names are given.
  if (!NO_FILE.test(line) || line.includes("' -> '")) return undefined;
  const [, named = ""] = QUOTED.exec(line) ?? BEFORE_WORDS.exec(line) ?? [];
  const missing = path.relative(workFolder, path.resolve(workFolder, named));
  return missing === "" || missing.startsWith("..") || named.includes("://") ? undefined : { kind: "file", missing };
}

/** A similar name at its own place, or exactly this name elsewhere, if it exists only once. */
async function likeIt({ kind, missing }: Missing, workFolder: string): Promise<string | undefined> {
  const entries = await entriesBelow(workFolder);
  if (kind === "file")
    return likePath(missing.split("/"), entries) ?? onlyOne(entries, path.basename(missing), path.basename);
  const name = missing.split(".").at(-1) ?? "";
  const modules = entries.filter((entry) => /(?:^|\/)\w+(?:\.py)?$/.test(entry));
  return onlyOne(modules, name, moduleNameOf) ?? likeModule(name, modules);
}

function likePath(parts: readonly string[], entries: readonly string[]): string | undefined {
  let found = "";
  for (const part of parts) {
    const folder = found === "" ? "." : found;
    const names = entries.filter((entry) => path.dirname(entry) === folder).map((entry) => path.basename(entry));
    const name = names.includes(part) ? part : nearest(part, names);
    if (name === undefined) return undefined;
    found = path.join(found, name);
  }
  return found;
}

function likeModule(name: string, modules: readonly string[]): string | undefined {
  const near = nearest(name, modules.map(moduleNameOf));
  return near === undefined ? undefined : modules.find((module) => moduleNameOf(module) === near);
}

function onlyOne(entries: readonly string[], name: string, nameOf: (entry: string) => string): string | undefined {
  const [found, ...others] = entries.filter((entry) => nameOf(entry) === name);
  return others.length === 0 ? found : undefined;
}

/** The job's own entries, relative to the folder, those at the top first, within the limits of the search. */
async function entriesBelow(workFolder: string): Promise<string[]> {
  const found: string[] = [];
  let folders = [""];
  for (let depth = 1; depth <= DEEPEST && folders.length > 0; depth += 1) {
    const below: string[] = [];
    for (const folder of folders) {
      for (const entry of await readdir(path.join(workFolder, folder), { withFileTypes: true })) {
        if (found.length >= MOST_ENTRIES) return found;
        if (!isLookedAt(entry, depth)) continue;
        const place = path.join(folder, entry.name);
        found.push(place);
        if (await isFolder(entry, path.join(workFolder, place))) below.push(place);
      }
    }
    folders = below;
  }
  return found;
}

function isLookedAt({ name }: Dirent, depth: number): boolean {
  return !name.startsWith(".") && !NOT_LOOKED_INTO.has(name) && (depth > 1 || ownerOf(name) === undefined);
}

/** What NodeManagers bring into a container is a link to a place that containers share. */
async function isFolder(entry: Dirent, place: string): Promise<boolean> {
  return entry.isSymbolicLink()
    ? (await stat(place).catch(() => undefined))?.isDirectory() === true
    : entry.isDirectory();
}
