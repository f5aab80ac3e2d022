import fs from "node:fs/promises";
import path from "node:path";
import querystring from "node:querystring";
import type { Tree, TreeEntry } from "./directory-tree.ts";

/** What an environment of venv, virtualenv, uv or conda has at its top level. */
const ENVIRONMENT = /^(pyvenv\.cfg|conda-meta)$/;
/** Scripts that installers generate are shorter. */
const LONGEST_SCRIPT_BYTES = 65_536;
/**
 * The first line of a script that uses its environment's Python, as pip writes it, and the form for lines that would be too long
 * (distlib.scripts). A Python of the system is left unchanged.
 */
const OWN_PYTHON = [
  /^#! ?(?!\/(?:usr\/(?:local\/)?)?bin\/python)\/[^\s"]*\/bin\/(python[\d.]*)((?: [^\n]*)?)\n/,
  /^#!\/bin\/sh\n'''exec' "?\/[^"\n]*\/bin\/(python[\d.]*)"?((?: [^\n"]*)?) "\$0" "\$@"\n' '''\n/,
];

/** The line of `activate` with the folder that it was made for, as venv, virtualenv and uv write it. */
const OWN_FOLDER = /^(\s*(?:export +)?VIRTUAL_ENV=)(?:"\/[^"\n]*"|'\/[^'\n]*'|\/[^\s"';]*)(?= *$)/gm;
/**
 * Finds the script's folder; in a shell that does not say which file it reads, such as dash, it assumes that the environment is `venv`
 * in the working directory. Elsewhere the shell would continue silently with the node's own Python, so it exits, or fails where a
 * person types.
 */
const FOLDER_ABOVE = [
  `"$(cd -- "$(dirname -- "\${BASH_SOURCE:-venv/bin/activate}")/.." 2>/dev/null && pwd)"`,
  `[ -n "$VIRTUAL_ENV" ] || echo "activate: only bash can say where this environment lies: run this by bash, or run its bin/python" >&2`,
  `[ -n "$VIRTUAL_ENV" ] || case $- in *i*) return 1 ;; *) exit 1 ;; esac`,
].join("; ");

/** An environment as it is sent, and remarks for people on what will not work on another machine. */
export interface Relocated {
  readonly tree: Tree;
  readonly remarks: readonly string[];
}

/**
 * Makes a virtual environment (PEP 405), or one of conda, work in another folder than the one it was made in: the scripts in its
 * `bin`, whose first lines name that folder, find the Python beside them instead, and so does `activate`. Any other folder stays
 * unchanged.
 * @param beside what else is sent from this machine
 */
export async function relocateEnvironment(tree: Tree, beside: readonly string[]): Promise<Relocated> {
  if (!tree.entries.some(({ entry }) => ENVIRONMENT.test(entry.path))) return { tree, remarks: [] };
  const names = new Set(tree.entries.map(({ entry }) => entry.path));
  const entries = await Promise.all(tree.entries.map((entry) => relocated(entry, names)));
  const files = tree.entries.map(({ entry, source }) => ({ name: entry.path, source }));
  return { tree: { ...tree, entries }, remarks: await remarksOf(files, beside) };
}

async function relocated(tree: TreeEntry, files: ReadonlySet<string>): Promise<TreeEntry> {
  const { entry, source } = tree;
  if (entry.type !== "file" || entry.sizeBytes > LONGEST_SCRIPT_BYTES || !/^bin\/[^/]+$/.test(entry.path)) return tree;
  const isActivate = entry.path === "bin/activate";
  if (!isActivate && (entry.mode & 0o111) === 0) return tree;
  const script = await fs.readFile(source);
  const content = isActivate
    ? relocatedActivate(script)
    : relocatedScript(script, (python) => files.has(`bin/${python}`));
  return content === undefined ? tree : { ...tree, entry: { ...entry, sizeBytes: content.length }, content };
}

/** For sh the second line runs the Python beside the script; for Python it is an unused string. */
function relocatedScript(script: Buffer, isThere: (python: string) => boolean): Buffer | undefined {
  const text = script.toString("latin1");
  const [head, python = "", options = ""] = OWN_PYTHON.map((pattern) => pattern.exec(text)).find(Boolean) ?? [];
  if (head === undefined || !isThere(python)) return undefined;
  const beside = `'''exec' "$(dirname -- "$(realpath -- "$0")")"/${python}${options} "$0" "$@"\n' '''\n`;
  return Buffer.from(`#!/bin/sh\n${beside}${text.slice(head.length)}`, "latin1");
}

function relocatedActivate(script: Buffer): Buffer | undefined {
  const text = script.toString("latin1");
  const relocated = text.replace(OWN_FOLDER, (_line, assignment: string) => assignment + FOLDER_ABOVE);
  return relocated === text ? undefined : Buffer.from(relocated, "latin1");
}

/** The Python that an environment was made from, which has its library; undefined where nothing says so. */
export async function basePython({ entries }: Tree): Promise<string | undefined> {
  const settings = entries.find(({ entry }) => entry.path === "pyvenv.cfg");
  if (settings === undefined) return undefined;
  return /^home *= *(\/.*?)\s*$/m.exec(await fs.readFile(settings.source, "utf8"))?.[1];
}

interface EnvironmentFile {
  /** Its path in the environment. */
  readonly name: string;
  readonly source: string;
}

/** A file of an environment that refers to sources on this machine, and which sources, where it says so. */
interface Reference {
  readonly name: string;
  readonly folder?: string;
  /** Names of the modules that are single files. */
  readonly modules?: readonly string[];
}

async function remarksOf(files: readonly EnvironmentFile[], beside: readonly string[]): Promise<string[]> {
  const matching = (pattern: RegExp) => files.filter(({ name }) => pattern.test(name));
  const [editable, listed, shared] = await Promise.all([
    Promise.all(matching(/^lib\/[^/]+\/site-packages\/[^/]+\.dist-info\/direct_url\.json$/).map(editableSources)),
    Promise.all(matching(/^lib\/[^/]+\/site-packages\/[^/]+\.pth$/).map(listedSources)),
    Promise.all(matching(/^pyvenv\.cfg$/).map(sharedPackages)),
  ]);
  const installed = editable.flat();
  const others = listed.flat().filter(({ folder }) => !installed.some((one) => includes(one, folder)));
  const lacking = [...installed, ...others].filter((one) => !isSent(one, beside));
  return [...lacking.map(referenceWords), ...shared.flat()];
}

function referenceWords({ name, folder }: Reference): string {
  return `${name} refers to ${folder ?? "sources"} of this machine, which is not sent with it: install it without -e, or send it separately`;
}

/** Whether a package's modules are sent separately. A single file, such as the job's program, counts only if it has a module's name. */
function isSent({ folder, modules = [] }: Reference, beside: readonly string[]): boolean {
  if (folder === undefined) return false;
  const within = beside.filter((one) => `${one}/`.startsWith(`${folder}/`));
  return within.some((one) => !one.endsWith(".py") || modules.includes(path.basename(one, ".py")));
}

/** Whether a package's own source folder is, or contains, the listed one. */
function includes({ folder = "" }: Reference, listed: string | undefined): boolean {
  return listed === undefined || listed === folder || listed.startsWith(`${folder}/`);
}

/** The installer's record of a package that it left in its source folder (PEP 610). */
async function editableSources({ name, source }: EnvironmentFile): Promise<Reference[]> {
  const text = await fs.readFile(source, "utf8");
  if (!/"editable" *: *true\b/.test(text)) return [];
  const [, url] = /"url" *: *"file:\/\/(\/[^"]*?)\/?"/.exec(text) ?? [];
  if (url === undefined) return [];
  const listed = await fs.readFile(path.join(path.dirname(source), "top_level.txt"), "utf8").catch(() => "");
  return [{ name, folder: querystring.unescape(url), modules: listed.split(/\s+/) }];
}

/**
 * The folders that a `.pth` file makes Python add to its path (site.addpackage): one per line, relative to the file's own folder; a line
 * with `import` is executed.
 */
async function listedSources({ name, source }: EnvironmentFile): Promise<Reference[]> {
  const text = await fs.readFile(source, "utf8");
  const folders = await Promise.all(text.split(/\r?\n/).map((line) => folderOutside(line, name, source)));
  const folder = folders.find((one) => one !== undefined);
  if (folder !== undefined) return [{ name, folder }];
  return text.includes("__editable__") ? [{ name }] : [];
}

async function folderOutside(line: string, name: string, source: string): Promise<string | undefined> {
  if (/^import[ \t]/.test(line)) return /\bsys\.path\b.*?(["'])(\/[^"']+)\1/.exec(line)?.[2];
  if (line.startsWith("/")) return line.trimEnd();
  const isOutside = path.posix.join(path.posix.dirname(name), line.trimEnd()).startsWith("../");
  if (!isOutside) return undefined;
  const folder = path.resolve(path.dirname(source), line.trimEnd());
  return (await fs.stat(folder).catch(() => undefined)) && folder;
}

/** A remark that an environment uses packages of the Python that it was made from. */
async function sharedPackages({ name, source }: EnvironmentFile): Promise<string[]> {
  const text = await fs.readFile(source, "utf8");
  if (!/^include-system-site-packages *= *true *$/im.test(text)) return [];
  return [
    `${name} has include-system-site-packages = true: packages of this machine's Python do not go along; ` +
      "install those that the program needs into the environment, unless every node has them",
  ];
}
