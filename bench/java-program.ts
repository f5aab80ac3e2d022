import { type ChildProcess, execFile, spawn } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { type ClusterStatus, ClusterUser, environmentFor, javaSecurity } from "../test/support/cluster.ts";

const run = promisify(execFile);

/**
 * Runs one of Hadoop's classes, or a source file of bench/java, with the cluster's jars and configuration.
 * @returns what it prints
 */
export async function java(cluster: ClusterStatus, words: readonly string[]): Promise<string> {
  const { program, options, environment } = command(cluster, cluster.jars);
  const { stdout } = await run(program, [...options, ...words], { env: environment, maxBuffer: 16 << 20 });
  return stdout;
}

/**
 * Starts a program that runs until its input ends or it is killed.
 * @param jars the folder of its jars; default: the cluster's own
 * @param folder its working folder; default: the present one
 */
export function startJava(
  cluster: ClusterStatus,
  words: readonly string[],
  { jars = cluster.jars, folder = process.cwd() }: { readonly jars?: string; readonly folder?: string } = {},
): ChildProcess {
  const { program, options, environment } = command(cluster, jars);
  return spawn(program, [...options, ...words], { cwd: folder, env: environment, stdio: ["pipe", "pipe", "pipe"] });
}

/** Hadoop's libraries use reflection on Java's own classes. */
function command(cluster: ClusterStatus, jars: string) {
  return {
    program: path.join(cluster.javaHome, "bin", "java"),
    options: [
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      ...javaSecurity(cluster),
      ...["-cp", [cluster.confDir, path.join(jars, "*")].join(":")],
    ],
    environment: { ...process.env, ...environmentFor(cluster, ClusterUser.alice) },
  };
}
