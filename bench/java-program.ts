import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { type ClusterStatus, ClusterUser } from "../test/support/cluster.ts";

const run = promisify(execFile);

/** Runs a class of Hadoop's, or a source file of bench/java, with the cluster's jars and configuration. @returns what it prints */
export async function java(cluster: ClusterStatus, words: readonly string[]): Promise<string> {
  const classPath = [cluster.confDir, path.join(cluster.jars, "*")].join(":");
  const { stdout } = await run(path.join(cluster.javaHome, "bin", "java"), ["-cp", classPath, ...words], {
    env: { ...process.env, HADOOP_USER_NAME: ClusterUser.alice },
    maxBuffer: 16 << 20,
  });
  return stdout;
}
