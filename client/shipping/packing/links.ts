import fs from "node:fs/promises";
import path from "node:path";
import { isNotThere } from "../../../src/hadoop/errors.ts";
import type { Tree, TreeEntry } from "./directory-tree.ts";

/** Permission bits of others. */
const mayRead = 0o004;
const mayEnter = 0o001;

/** A link out of the folder that only its owner can follow. */
export interface PrivateLink {
  readonly path: string;
  readonly target: string;
}

/**
 * A folder's links to files of this machine that other users may not read: for example a virtual environment whose Python is in
 * somebody's home. A NodeManager on the same file system that runs as another user cannot start a container with such a link: its
 * launch script fails at it.
 */
export async function privateLinks({ entries }: Tree): Promise<PrivateLink[]> {
  const links = entries.flatMap(({ entry }) =>
    entry.type === "symlink" && path.isAbsolute(entry.target) ? [entry] : [],
  );
  const found = await Promise.all(links.map(async (link) => ((await isPrivate(link.target)) ? [link] : [])));
  return found.flat();
}

/** Whether only its owner may read the target, or enter a folder above it; false for a target that does not exist. */
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

/** A remark on a folder's relative links that lead nowhere in its copy: to missing or to excluded files. */
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
