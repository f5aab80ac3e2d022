import fs from "node:fs/promises";
import path from "node:path";
import type { Tree, TreeEntry } from "./directory-tree.ts";

/** What an environment of venv, virtualenv, uv or conda has at its top. */
const ENVIRONMENT = /^(pyvenv\.cfg|conda-meta)$/;
/** Scripts that installers make are shorter. */
const LONGEST_SCRIPT_BYTES = 65_536;
/**
 * The first line of a script that belongs to its environment's Python, as pip writes it, and what it writes where that line would be too long
 * (distlib.scripts). A Python of the system is meant as it stands.
 */
const OWN_PYTHON = [
  /^#! ?(?!\/(?:usr\/(?:local\/)?)?bin\/python)\/[^\s"]*\/bin\/(python[\d.]*)((?: [^\n]*)?)\n/,
  /^#!\/bin\/sh\n'''exec' "?\/[^"\n]*\/bin\/(python[\d.]*)"?((?: [^\n"]*)?) "\$0" "\$@"\n' '''\n/,
];

/** Where `activate` names the folder that it was made for, as venv, virtualenv and uv write it. */
const OWN_FOLDER = /^(\s*(?:export +)?VIRTUAL_ENV=)(?:"\/[^"\n]*"|'\/[^'\n]*'|\/[^\s"';]*)(?= *$)/gm;
/**
 * Where the script lies; a shell that does not say what it reads, such as dash, is in the working directory, and the environment is its
 * `venv`. Elsewhere it would go on with the node's own Python, without a word: it ends, or fails where a person types.
 */
const FOLDER_ABOVE = [
  `"$(cd -- "$(dirname -- "\${BASH_SOURCE:-venv/bin/activate}")/.." && pwd)"`,
  `[ -n "$VIRTUAL_ENV" ] || echo "activate: only bash can say where this environment lies: run this by bash, or run its bin/python" >&2`,
  `[ -n "$VIRTUAL_ENV" ] || case $- in *i*) return 1 ;; *) exit 1 ;; esac`,
].join("; ");

/** An environment as it travels, and what of it does not work elsewhere, for people. */
export interface Relocated {
  readonly tree: Tree;
  readonly remarks: readonly string[];
}

/**
 * Lets a virtual environment (PEP 405), or one of conda, work in another folder than the one it was made in: the scripts in its `bin`,
 * whose first lines name that folder, find the Python beside them instead, and so does `activate`. Any other folder stays as it is.
 */
export async function relocateEnvironment(tree: Tree): Promise<Relocated> {
  if (!tree.entries.some(({ entry }) => ENVIRONMENT.test(entry.path))) return { tree, remarks: [] };
  const names = new Set(tree.entries.map(({ entry }) => entry.path));
  const entries = await Promise.all(tree.entries.map((entry) => relocated(entry, names)));
  const files = tree.entries.map(({ entry, source }) => ({ name: entry.path, source }));
  return { tree: { ...tree, entries }, remarks: await editableRemarks(files) };
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

/** For sh the second line runs the Python beside the script; for Python it is a text that nobody reads. */
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

/** The Python that an environment was made from, which has its library; undefined where that is not said. */
export async function basePython({ entries }: Tree): Promise<string | undefined> {
  const settings = entries.find(({ entry }) => entry.path === "pyvenv.cfg");
  if (settings === undefined) return undefined;
  return /^home *= *(\/.*?)\s*$/m.exec(await fs.readFile(settings.source, "utf8"))?.[1];
}

/** What an environment's folder refers to that does not go along; nothing of any other folder. */
export async function sourcesLeftBehind(folder: string): Promise<string[]> {
  const names = await fs.readdir(folder, { recursive: true }).catch(() => []);
  if (!names.some((name) => ENVIRONMENT.test(name))) return [];
  return editableRemarks(names.map((name) => ({ name, source: path.join(folder, name) })));
}

/** What `pip install -e` leaves in an environment is a path to sources that stay on this machine. */
async function editableRemarks(
  files: readonly { readonly name: string; readonly source: string }[],
): Promise<string[]> {
  const lists = files.filter(({ name }) => /^lib\/[^/]+\/site-packages\/[^/]+\.pth$/.test(name));
  const found = await Promise.all(
    lists.map(async ({ name, source }) => {
      const text = await fs.readFile(source, "utf8");
      const folder = /^\/.*$/m.exec(text)?.[0];
      return folder === undefined && !text.includes("__editable__")
        ? []
        : `${name} refers to ${folder ?? "sources"} of this machine, which does not go along: install that without -e`;
    }),
  );
  return found.flat();
}
