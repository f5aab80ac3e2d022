import { posix } from "node:path";
import type { Tree } from "./directory-tree.ts";

export interface Circle {
  readonly path: string;
  readonly target: string;
}

/** The links of a folder that lead back into a folder above them; also those that are only reached through other links of it. */
export function circles({ entries }: Tree): Circle[] {
  const links = new Map(entries.flatMap(({ entry }) => (entry.type === "symlink" ? [[entry.path, entry.target]] : [])));
  const folders = new Set(["", ...entries.flatMap(({ entry }) => (entry.type === "directory" ? [entry.path] : []))]);
  const inner = new Map<string, string[]>();
  for (const { entry } of entries) {
    const above = folderOf(entry.path);
    if (entry.type !== "file") inner.set(above, [...(inner.get(above) ?? []), entry.path]);
  }
  const found: Circle[] = [];
  const done = new Set<string>();
  const walk = (folder: string, above: ReadonlySet<string>): void => {
    if (done.has(folder)) return;
    const within = new Set([...above, folder]);
    for (const path of inner.get(folder) ?? []) {
      const real = realPath(path, links);
      const target = links.get(path);
      if (target !== undefined && (real === undefined || within.has(real))) found.push({ path, target });
      else if (real !== undefined && folders.has(real)) walk(real, within);
    }
    done.add(folder);
  };
  walk("", new Set());
  return found;
}

/** The place within the folder that a path leads to; undefined for links without an end. A link out of the folder is not followed. */
function realPath(path: string, links: ReadonlyMap<string, string>, steps = 0): string | undefined {
  if (steps > MOST_LINKS) return undefined;
  const parts = path.split("/");
  for (let count = 1; count <= parts.length; count += 1) {
    const head = parts.slice(0, count).join("/");
    const target = links.get(head);
    if (target === undefined) continue;
    if (posix.isAbsolute(target)) return target;
    const next = posix.join(folderOf(head), target, ...parts.slice(count)).replace(/^\.\/?$|\/$/, "");
    return realPath(next, links, steps + 1);
  }
  return path;
}

/** Links in a row (MAXSYMLINKS, linux/namei.h). */
const MOST_LINKS = 40;

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === "." ? "" : folder;
}
