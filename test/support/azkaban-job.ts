import { spawn } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { packageRoot } from "../../src/programs.ts";
import { type ClusterStatus, ClusterUser, environmentFor } from "./cluster.ts";
import { azkabanHadoopJars, azkabanJars, javaSource } from "./peers.ts";

/** What became of a flow's job, as Azkaban's executor sees it. */
export interface AzkabanResult {
  readonly result: "succeeded" | "failed";
  /** The job's output properties; null where it left none. */
  readonly output: Readonly<Record<string, string>> | null;
  readonly log: string;
}

export interface AzkabanJob {
  /** Resolves with what the pattern matches in the log; rejects when the job ends without a match. */
  readonly logged: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** Cancels the job, as a person does in Azkaban's pages. */
  readonly cancel: () => void;
  /** Ends the executor server abruptly. */
  readonly crash: () => void;
  readonly ended: () => Promise<AzkabanResult>;
}

export interface AzkabanJobOptions {
  /** The `.properties` files of the flow and of the job, as their author writes them. */
  readonly flow: string;
  readonly job: string;
  /** The folder of the project's files. */
  readonly folder: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a site sets for all its job types; here it does without the native program that changes the user. */
const commonPrivate = ["execute.as.user=false", "memCheck.enabled=false"];

/** A way to run Azkaban's executor: the job type's class, the site's further settings, and the JVM's options and class path. */
interface Executor {
  readonly jobTypeClass?: string;
  readonly site: readonly string[];
  readonly options: readonly string[];
  readonly classPath: readonly string[];
  /** The environment in which it runs. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a job of type tony-ts in Azkaban's own classes, with Azkaban's own `JobTypeManager`. */
export async function startAzkabanJob(cluster: ClusterStatus, options: AzkabanJobOptions): Promise<AzkabanJob> {
  const { folder, environment = {} } = options;
  const jars = await azkabanJars(cluster);
  const jobTypes = path.join(folder, "jobtypes");
  await mkdir(folder, { recursive: true });
  await cp(path.join(packageRoot(), "azkaban", "jobtypes"), jobTypes, { recursive: true });
  const executor = await executorOn(cluster, folder);
  await writeFile(path.join(jobTypes, "commonprivate.properties"), [...commonPrivate, ...executor.site].join("\n"));
  if (executor.jobTypeClass !== undefined) {
    await writeFile(path.join(jobTypes, "tony-ts", "private.properties"), `jobtype.class=${executor.jobTypeClass}`);
  }
  const [flow, job] = [path.join(folder, "flow.properties"), path.join(folder, "job.properties")];
  await Promise.all([writeFile(flow, options.flow), writeFile(job, options.job)]);
  const child = spawn(
    path.join(cluster.javaHome, "bin", "java"),
    [
      // Azkaban's executor reads the pid of its child by reflection.
      "--add-opens=java.base/java.lang=ALL-UNNAMED",
      ...["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", ...executor.options],
      ...["-cp", [path.join(jars, "*"), ...executor.classPath].join(":")],
      ...[javaSource("azkaban/RunJob.java"), jobTypes, flow, job, folder],
    ],
    { env: { ...process.env, ...executor.environment, ...environment } },
  );
  let log = "";
  const looks = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      for (const look of looks) look();
    });
  }
  const closed = new Promise<void>((resolve) => child.on("close", () => resolve()));
  return {
    logged: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(log);
          if (found === null) return;
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
        void closed.then(() => reject(new Error(`The job ended without ${pattern}:\n${log}`)));
      }),
    cancel: () => void child.stdin.write("\n"),
    crash: () => void child.kill("SIGKILL"),
    ended: () => closed.then(() => resultIn(log)),
  };
}

function resultIn(log: string): AzkabanResult {
  const [, result, output] = /^result: (\w+) (.*)$/m.exec(log) ?? [];
  if (result !== "succeeded" && result !== "failed") {
    throw new Error(`The job ended without a result:\n${log}`);
  }
  return { result, output: JSON.parse(output ?? "null"), log };
}

/**
 * On a secure cluster the executor logs in as a service, and its jobs have the tokens that it fetches for the users in whose name they run.
 */
async function executorOn(cluster: ClusterStatus, folder: string): Promise<Executor> {
  const alice = environmentFor(cluster, ClusterUser.alice);
  if (cluster.security === undefined) return { site: [], options: [], classPath: [], environment: alice };
  const { keytabs, krb5Conf } = cluster.security;
  const native = path.join(folder, "native");
  await mkdir(native);
  await writeFile(path.join(native, "execute-as-user"), executeAsUser, { mode: 0o755 });
  return {
    jobTypeClass: "azkaban.jobtype.HadoopShell",
    site: [
      "azkaban.should.proxy=true",
      "obtain.binary.token=true",
      "obtain.namenode.token=true",
      "obtain.jobtracker.token=true",
      "hadoop.security.manager.class=azkaban.security.HadoopSecurityManager_H_2_0",
      `proxy.user=azkaban/${cluster.addresses.master}@TONY.TEST`,
      `proxy.keytab.location=${path.join(keytabs, "azkaban.keytab")}`,
      `azkaban.native.lib=${native}`,
    ],
    options: [`-Djdk.net.hosts.file=${path.join(cluster.state, "hosts")}`, `-Djava.security.krb5.conf=${krb5Conf}`],
    classPath: [path.join(await azkabanHadoopJars(cluster), "*"), cluster.confDir, path.join(cluster.jars, "*")],
    // No ticket of any user is at hand: Azkaban itself names another file for each job.
    environment: { ...alice, KRB5CCNAME: path.join(folder, "no-ticket") },
  };
}

/** Takes the place of Azkaban's setuid program. All users are one here, so that no files change their owner. */
const executeAsUser = ["#!/bin/sh", "shift", 'case "$1" in chown) exit 0 ;; esac', 'exec "$@"', ""].join("\n");
