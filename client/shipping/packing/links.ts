import fs from "node:fs/promises";
import path from "node:path";
import { isNotThere } from "../../../src/hadoop/errors.ts";
import type { Tree, TreeEntry } from "./directory-tree.ts";

/** Permission bits of everybody. */
const mayRead = 0o004;
const mayEnter = 0o001;

/** A link out of the folder that its owner alone can follow. */
export interface PrivateLink {
  readonly path: string;
  readonly target: string;
}

/**
 * Links of a folder to what this machine has and other users may not read: a virtual environment of a Python in somebody's home. A
 * NodeManager that runs on the same files as another user cannot start a container with one: its launch script ends at it.
 */
export async function privateLinks({ entries }: Tree): Promise<PrivateLink[]> {
  const links = entries.flatMap(({ entry }) =>
    entry.type === "symlink" && path.isAbsolute(entry.target) ? [entry] : [],
  );
  const found = await Promise.all(links.map(async (link) => ((await isPrivate(link.target)) ? [link] : [])));
  return found.flat();
}

/** Whether its owner alone may read that, or enter a folder above it; of what is not there nothing is claimed. */
export async function isPrivate(target: string): Promise<boolean> {
  const real = await fs.realpath(target).catch(() => undefined);
  if (real === undefined) return false;
  const folders = new Set([...foldersAbove(target), ...foldersAbove(real)]);
  const [file, ...above] = await Promise.all([real, ...folders].map(async (one) => (await fs.stat(one)).mode));
  return ((file ?? mayRead) & mayRead) === 0 || above.some((mode) => (mode & mayEnter) === 0);
}

function foldersAbove(file: string): string[] {
  const folder = path.dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

/** Relative links of a folder that lead nowhere in its copy, as a remark: to what is not there, and to what stays behind. */
export async function lostLinks({ entries, leftOut }: Tree): Promise<string[]> {
  const looked = await Promise.all(entries.map((entry) => lostLink(entry, leftOut)));
  const [first, ...others] = looked.flatMap((words) => words ?? []);
  if (first === undefined) return [];
  return [others.length === 0 ? first : `${first} (and ${others.length} more like it)`];
}

async function lostLink({ entry, source }: TreeEntry, leftOut: readonly string[]): Promise<string | undefined> {
  if (entry.type !== "symlink" || path.isAbsolute(entry.target)) return undefined;
  const inside = path.join(path.dirname(entry.path), entry.target);
  const left = leftOut.find((one) => inside === one || inside.startsWith(`${one}/`));
  const link = `${entry.path} is a link to ${entry.target}`;
  if (left !== undefined) return `${link}, which is left out: on a node it leads nowhere`;
  const isLost = await fs.stat(source).then(() => false, isNotThere);
  return isLost ? `${link}, which does not exist` : undefined;
}
