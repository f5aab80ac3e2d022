import fs from "node:fs/promises";
import path from "node:path";
import type { Tree } from "./directory-tree.ts";

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
