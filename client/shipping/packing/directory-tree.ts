import { createHash } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import { UserError } from "../../../src/errors.ts";
import { errorCode, errorMessage } from "../../../src/hadoop/errors.ts";
import type { Exclusion } from "./exclusion.ts";
import type { TarEntry } from "./tar.ts";

/** An entry of a folder that is to be packed, with what shows whether it changed. */
export interface TreeEntry {
  readonly entry: TarEntry;
  /** The path of its bytes; differs from the entry's path where a link out of the folder was followed. */
  readonly source: string;
  /** Replaces those bytes. */
  readonly content?: Buffer;
  /** Changes when the content may have changed: inode, size, times to the nanosecond. */
  readonly identity: string;
  /** The time of its last change, in content or metadata. */
  readonly changedAtMs: number;
}

export interface Tree {
  readonly entries: readonly TreeEntry[];
  /** Excluded entries; what is below an excluded folder is not listed. */
  readonly leftOut: readonly string[];
}

/**
 * Everything below a folder except what is excluded, in an order that does not depend on the file system.
 *
 * Symbolic links stay links where they will work in the unpacked copy: inside the folder, or absolute (a virtual environment's `bin/python`
 * → `/usr/bin/python3`); an absolute link to a place in the folder becomes relative. A relative link that leaves the folder, or a folder
 * that was itself reached by such a link, would point at nothing there and is replaced by its target.
 *
 * @throws UserError for what cannot be packed: sockets, devices, pipes, links out of the folder to nothing, unreadable files
 */
export async function readTree(root: string, excludes: Exclusion): Promise<Tree> {
  const entries: TreeEntry[] = [];
  const leftOut: string[] = [];
  const base = await fs.realpath(root);
  await addFolder({ root, base, source: root, name: "", above: [], excludes, entries, leftOut });
  return { entries: entries.sort((left, right) => (left.entry.path < right.entry.path ? -1 : 1)), leftOut };
}

/** A hash that stays equal as long as nothing in the tree changes. */
export function fingerprintTree({ entries }: Tree): string {
  const hash = createHash("sha256");
  for (const { entry, identity } of entries) hash.update(`${JSON.stringify(entry)}\0${identity}\0`);
  return hash.digest("hex");
}

interface Walk {
  /** The folder to pack. */
  readonly root: string;
  /** The real path of the folder that is packed unchanged, within which links stay links: the root, or the target of a link that led out of it. */
  readonly base: string;
  readonly source: string;
  /** Relative to the root, "" for the root. */
  readonly name: string;
  /** Real paths of the folders above, to detect links that form a circle. */
  readonly above: readonly string[];
  readonly excludes: Exclusion;
  readonly entries: TreeEntry[];
  readonly leftOut: string[];
}

async function addFolder(walk: Walk): Promise<void> {
  const real = await fs.realpath(walk.source);
  if (walk.above.includes(real)) throw unpackable(walk.source, "is a link that leads back to itself");
  const names = await fs.readdir(walk.source).catch((error: unknown) => {
    throw unpackable(walk.source, `cannot be read: ${errorMessage(error)}`);
  });
  const above = [...walk.above, real];
  for (const name of names) {
    const child = {
      ...walk,
      above,
      source: path.join(walk.source, name),
      name: walk.name === "" ? name : `${walk.name}/${name}`,
    };
    const stats = await fs.lstat(child.source, { bigint: true }).catch((cause: unknown) => {
      // Node puts U+FFFD where bytes are not UTF-8, and then finds no such file. A name may also contain the character itself.
      if (!name.includes("\ufffd")) throw cause;
      throw unpackable(child.source, "has a name that is not UTF-8", "rename it, or ");
    });
    if (await walk.excludes({ path: child.name, source: child.source, isFolder: stats.isDirectory() })) {
      walk.leftOut.push(child.name);
    } else {
      await addEntry(child, stats);
    }
  }
}

type Stats = Awaited<ReturnType<typeof bigStats>>;
const bigStats = (file: string) => fs.stat(file, { bigint: true });

async function addEntry(walk: Walk, stats: Stats): Promise<void> {
  const common = {
    path: walk.name,
    mode: Number(stats.mode) & 0o777,
    modificationTimeSeconds: Math.floor(Number(stats.mtimeMs) / 1000),
  };
  const add = (entry: TarEntry) => {
    walk.entries.push({
      entry,
      source: walk.source,
      identity:
        entry.type === "directory" ? "" : `${stats.dev}.${stats.ino}.${stats.size}.${stats.mtimeNs}.${stats.ctimeNs}`,
      changedAtMs: Math.max(Number(stats.ctimeMs), Number(stats.mtimeMs)),
    });
  };
  if (stats.isSymbolicLink()) {
    const target = fromInside(walk, await fs.readlink(walk.source));
    if (path.isAbsolute(target) || staysInside(walk, target)) {
      add({ ...common, mode: 0o777, type: "symlink", target });
      return;
    }
    const followed = await bigStats(walk.source).catch((error: unknown) => {
      throw unpackable(walk.source, `is a link to ${target}, which cannot be read: ${errorMessage(error)}`);
    });
    await addEntry({ ...walk, base: await fs.realpath(walk.source) }, followed);
  } else if (stats.isDirectory()) {
    // A folder's time changes when a file in it is replaced by an equal one, so it is not used.
    add({ ...common, modificationTimeSeconds: 0, type: "directory" });
    await addFolder(walk);
  } else if (stats.isFile()) {
    await fs.access(walk.source, fs.constants.R_OK).catch((error: unknown) => {
      throw unpackable(walk.source, `cannot be read (${errorCode(error)})`, "let yourself read it, or ");
    });
    add({ ...common, type: "file", sizeBytes: Number(stats.size) });
  } else {
    throw unpackable(walk.source, "is a socket, a pipe or a device");
  }
}

/** Makes an absolute link to a place in the folder relative: the folder has another path on a node. */
function fromInside({ root, above, name }: Walk, target: string): string {
  if (!path.isAbsolute(target)) return target;
  const inside = [root, above[0] ?? root]
    .map((folder) => path.relative(folder, target))
    .find((relative) => relative !== ".." && !relative.startsWith("../"));
  return inside === undefined ? target : path.posix.relative(path.posix.dirname(name), inside) || ".";
}

function staysInside(walk: Pick<Walk, "base" | "above">, target: string): boolean {
  const folder = path.relative(walk.base, walk.above.at(-1) ?? walk.base);
  const resolved = path.posix.normalize(path.posix.join(folder, target));
  return resolved !== ".." && !resolved.startsWith("../");
}

function unpackable(file: string, problem: string, mend = ""): UserError {
  return new UserError(`${file} ${problem}: ${mend}remove it from the folder that is sent to the containers`, {
    code: "UNPACKABLE_ENTRY",
  });
}
