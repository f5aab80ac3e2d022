import fs from "node:fs/promises";
import path from "node:path/posix";
import { isNotThere } from "../../../src/hadoop/errors.ts";
import type { Tree, TreeEntry } from "./directory-tree.ts";

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
