import { execFile } from "node:child_process";
import { mkdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { Problem } from "../problem.mjs";
import { layout } from "./folders.mjs";
import { nodeName } from "./site-files.mjs";

/** @import { ClusterRecord } from "./record.mjs" */

const run = promisify(execFile);

/** Room for the files of three users' jobs; filling it fills no disk of this machine. */
const SIZE = "1g";

/** Mounts a file system in memory at the chosen NodeManager's `local/`. @param {ClusterRecord} cluster */
export async function mountSmallDisk(cluster) {
  const { smallDisk } = cluster.settings;
  if (smallDisk === 0) return;
  if (process.getuid?.() !== 0) throw new Problem("--small-disk mounts a file system, which needs root.");
  const { uid, gid } = cluster.users.yarn;
  const folder = join(layout(cluster.state).daemonData(nodeName(smallDisk - 1)), "local");
  await mkdir(folder, { recursive: true });
  const options = `size=${SIZE},mode=755,uid=${uid},gid=${gid},nosuid,nodev`;
  await run("mount", ["--types", "tmpfs", "--options", options, "tony-small-disk", folder]);
}

/** Unmounts everything that is mounted in a cluster's folder, in use or not. @param {string} state */
export async function unmountDisks(state) {
  const lines = (await readFile("/proc/self/mounts", "utf8")).split("\n");
  // fstab(5): a space in a path is \040.
  const folders = lines.map((line) => (line.split(" ")[1] ?? "").replaceAll("\\040", " "));
  for (const folder of folders) {
    if (folder.startsWith(`${state}${sep}`)) await run("umount", ["--lazy", folder]);
  }
}
