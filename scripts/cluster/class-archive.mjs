import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { JVM_FLAGS, libraryPath, markersOf } from "./daemons.mjs";
import { layout } from "./folders.mjs";

/** @import { ClusterRecord } from "./record.mjs" */

/**
 * Hadoop's daemons spend most of their start on loading some 13,000 classes. Java can map them preloaded from an archive
 * (Class Data Sharing, `java -Xshare:dump`), which makes a start 40 % shorter. The first cluster of a machine records
 * which classes its daemons load; the archive is made from these lists in the background, in the cache next to the jars.
 */

const LIST_SUFFIX = ".classes";
const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * The flag that maps the archive; until it exists, the flag that records the classes for it.
 * @param {ClusterRecord} cluster @param {string} daemonName
 */
export function classArchiveFlag(cluster, daemonName) {
  if (existsSync(cluster.classArchive)) return `-XX:SharedArchiveFile=${cluster.classArchive}`;
  return `-XX:DumpLoadedClassList=${join(layout(cluster.state).temporary, `${daemonName}${LIST_SUFFIX}`)}`;
}

/**
 * Starts to make the archive, unless it exists, without waiting for it: half a minute of one core at the lowest
 * priority. The process belongs to the cluster, whose `down` ends it. A Java that cannot use the archive starts without
 * it.
 * @param {ClusterRecord} cluster whose daemons have all started
 */
export async function makeClassArchive(cluster) {
  if (existsSync(cluster.classArchive)) return;
  await removeAbandoned(cluster.classArchive);
  const { temporary, logs } = layout(cluster.state);
  const list = join(temporary, "all-classes");
  await writeFile(list, await mergedLists(temporary));
  const partial = `${cluster.classArchive}.${process.pid}.partial`;
  const java = [
    join(cluster.javaHome, "bin", "java"),
    ...markersOf(cluster.state, "class-archive"),
    ...JVM_FLAGS,
    "-Xshare:dump",
    // Otherwise Java reports each class that cannot be archived, such as those in signed jars.
    "-Xlog:cds=error",
    `-XX:SharedClassListFile=${list}`,
    `-XX:SharedArchiveFile=${partial}`,
  ];
  const script = 'partial=$1 final=$2; shift 2; if "$@"; then mv "$partial" "$final"; else rm -f "$partial"; fi';
  const log = openSync(join(logs, "class-archive.log"), "a");
  const maker = spawn("nice", ["-n", "19", "sh", "-c", script, "sh", partial, cluster.classArchive, ...java], {
    env: { ...process.env, CLASSPATH: libraryPath(cluster.jars).join(":") },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  // Without the archive, clusters start as before.
  maker.on("error", () => {});
  maker.unref();
}

/** Each class once, in the order in which a daemon loaded it. @param {string} folder */
async function mergedLists(folder) {
  const files = (await readdir(folder)).filter((name) => name.endsWith(LIST_SUFFIX)).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  return [...new Set(texts.flatMap((text) => text.split("\n")))].join("\n");
}

/** Removes what a killed maker left in the cache. @param {string} archive */
async function removeAbandoned(archive) {
  for (const name of await readdir(dirname(archive))) {
    if (!name.startsWith(`${basename(archive)}.`)) continue;
    const path = join(dirname(archive), name);
    const modified = await stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - modified > ABANDONED_AFTER_MS) await rm(path, { force: true });
  }
}
