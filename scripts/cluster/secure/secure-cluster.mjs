import { execFile } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Problem } from "../../problem.mjs";
import { HADOOP_FILES, layout } from "../folders.mjs";
import { makeCertificates } from "./certificates.mjs";
import { publishHostNames } from "./host-names.mjs";
import { makeRealm } from "./realm.mjs";
import { makeWebSecret } from "./web-login.mjs";

/** @import { ClusterRecord } from "../record.mjs" */

const run = promisify(execFile);

/**
 * Prepares what a secure cluster needs before any of its daemons starts: names for its hosts, a realm with keytabs, certificates.
 * Its configuration already exists.
 * @param {ClusterRecord} cluster
 */
export async function prepareSecurity(cluster) {
  await publishHostNames(cluster);
  await Promise.all([makeRealm(cluster), makeCertificates(cluster), makeWebSecret(cluster), compileClasses(cluster)]);
}

/** Refuses settings that cannot be combined with it. @param {import("../record.mjs").Settings} settings */
export function expectSecurable(settings) {
  if (process.getuid?.() !== 0) {
    throw new Problem("--secure gives hosts names and daemons keytabs of their own, which needs root.");
  }
  const { router, isolate } = settings;
  for (const [option, chosen] of Object.entries({ router, isolate })) {
    if (chosen) throw new Problem(`--secure does not go with --${option}.`, { exitCode: 2 });
  }
}

/** Compiles the Java classes that precede Hadoop's own, from docker/hadoop/java. @param {ClusterRecord} cluster */
async function compileClasses({ state, javaHome, jars }) {
  const { classes } = layout(state).secure;
  const sources = join(HADOOP_FILES, "java");
  const files = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith(".java"));
  await rm(classes, { recursive: true, force: true });
  await mkdir(classes, { recursive: true });
  const target = ["-nowarn", "-cp", join(jars, "*"), "-d", classes];
  await run(join(javaHome, "bin", "javac"), [...target, ...files.map((name) => join(sources, name))]);
}
