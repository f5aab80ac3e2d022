import type { UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { countWords, listWords, memoryWords, nodeWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { Machine } from "../../src/machine.ts";
import { ROOT_MEND, rootRefusal } from "../applications/local-folder.ts";
import { addressProblems } from "../cluster/address-checks.ts";
import { clearTextFindings } from "../cluster/clear-text.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { awayNodes, nodeStatesAsked } from "../cluster/cluster-facts.ts";
import type { Finding } from "../cluster/findings.ts";
import {
  clockFinding,
  kerberosFindings,
  labelsFinding,
  logsFinding,
  queueFinding,
  resourcesFinding,
} from "../cluster/findings.ts";
import { describeFolder, schedulerGuess } from "../cluster/hadoop-configuration.ts";
import { mastersFindings } from "../cluster/masters.ts";
import type { NamedRuntimes } from "../cluster/site-settings.ts";
import { chooseRuntime, type RuntimeChoice } from "../shipping/runtime.ts";
import { requireTrustedFolders } from "../staging/folder-trust.ts";
import { StagingFolder, stagingRoot } from "../staging/staging-folder.ts";
import { historyFindings, virtualMemoryFindings } from "./doctor-settings.ts";

/** Options that apply with or without a cluster. */
export interface OfflineOptions {
  readonly nodeBinary: string | undefined;
  readonly namedRuntimes: NamedRuntimes;
  readonly machine: Machine;
  /** The folder of this machine's jobs. */
  readonly localRoot: string;
}

export interface DoctorOptions extends OfflineOptions {
  readonly queue: string;
  readonly gpuTypes: readonly string[];
  readonly stagingDir: string | undefined;
  readonly trustedOwners: readonly string[];
  readonly history: JobSpec["history"];
  readonly now: () => number;
}

/** Checks everything that a submission needs; a failed check is a finding, and the others still run. */
export async function examine(cluster: Cluster, options: DoctorOptions): Promise<Finding[]> {
  const findings = await Promise.all([
    attempt("configuration", async () => configurationFinding(cluster)),
    attempt("Kerberos", () => kerberosFindings(cluster)),
    attempt("protection", async () => clearTextFindings(cluster)),
    schedulerFindings(),
    attempt("masters", () => mastersFindings(cluster)),
    attempt("addresses", () => addressFindings(cluster)),
    attempt("HDFS", () => fileSystemFinding(cluster, options)),
    attempt("logs", async () => logsFinding(cluster.configuration, cluster.user)),
    attempt("history", () => historyFindings(cluster.fileSystems, options.history)),
    attempt("memory", async () => virtualMemoryFindings(cluster.configuration)),
    attempt("runtime", () => runtimeFinding(options)),
    machineFinding(options),
  ]);
  return findings.flat();

  /** The ResourceManager is not asked further when it is unavailable: saying so once is enough. */
  async function schedulerFindings(): Promise<Finding[]> {
    const first = await attempt("ResourceManager", () => resourceManagerFinding(cluster));
    if (first.some(({ state }) => state === "wrong")) return first;
    const more = await Promise.all([
      attempt("queue", () => lookAtQueue(cluster, options.queue)),
      attempt("resources", () => lookAtResources(cluster, options.gpuTypes)),
      attempt("labels", () => lookAtLabels(cluster, options.queue)),
    ]);
    return [...first, ...more.flat()];
  }

  async function attempt(subject: string, look: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
    try {
      return [await look()].flat();
    } catch (error) {
      return [wrongFinding(subject, cluster.explain(error))];
    }
  }
}

/** The findings without a cluster: why there is none, and what works without one. */
export async function examineOffline(noCluster: UserError, options: OfflineOptions): Promise<Finding[]> {
  const runtime = runtimeFinding(options).catch((error: unknown) => wrongFinding("runtime", error));
  return [wrongFinding("configuration", noCluster), await runtime, machineFinding(options)];
}

/** The first line of an error's message is the finding, the rest is the remedy. */
function wrongFinding(subject: string, error: unknown): Finding {
  const [found = "", ...remedy] = errorMessage(error).split("\n");
  const mend = remedy.map((line) => line.trim()).filter((line) => !line.includes("tony-ts doctor"));
  return { subject, state: "wrong", found, ...(mend.length === 0 ? {} : { remedy: mend.join(" ") }) };
}

function machineFinding({ machine: { memoryMiB, vcores, gpus }, localRoot }: OfflineOptions): Finding {
  const has = `${memoryWords(memoryMiB)}, ${countWords(vcores, "core")}, ${countWords(gpus.length, "GPU")}`;
  const refusal = rootRefusal(localRoot);
  if (refusal !== undefined) {
    const found = `${has}; --scheduler local has no folder for its jobs, ${localRoot}: ${refusal}`;
    return { subject: "this machine", state: "remark", found, remedy: ROOT_MEND };
  }
  return { subject: "this machine", state: "well", found: `${has}: jobs run here with --scheduler local` };
}

function configurationFinding({ configuration, folder }: Cluster): Finding {
  const security = configuration.get("hadoop.security.authentication") ?? "simple";
  const found = `${configuration.get("fs.defaultFS")}, authentication ${security}; ${describeFolder(folder)}`;
  const guess = schedulerGuess(configuration);
  if (guess === undefined) return { subject: "configuration", state: "well", found };
  const remedy = "copy the cluster's own yarn-site.xml, or set the key";
  return { subject: "configuration", state: "remark", found: `${found}. ${guess}`, remedy };
}

/** The same warnings as a submission gives; nothing where nothing is wrong. */
async function addressFindings(cluster: Cluster): Promise<Finding[]> {
  const problems = await addressProblems(cluster);
  return problems.map(({ message }) => ({ subject: "addresses", state: "remark", found: message }));
}

async function resourceManagerFinding({ resourceManager }: Cluster): Promise<Finding> {
  const [{ activeNodeManagers, lostNodeManagers, unhealthyNodeManagers }, away] = await Promise.all([
    resourceManager.metrics(),
    resourceManager.nodes(["UNHEALTHY", "LOST", "DECOMMISSIONING"]),
  ]);
  const counts = `${countWords(activeNodeManagers, "node")} active, ${lostNodeManagers} lost, ${unhealthyNodeManagers} unhealthy`;
  const found = away.length === 0 ? counts : `${counts}: ${listWords(away.map(nodeWords))}`;
  if (activeNodeManagers > 0) return { subject: "ResourceManager", state: "well", found };
  return {
    subject: "ResourceManager",
    state: "wrong",
    found,
    remedy: "start a NodeManager: nothing can run without one",
  };
}

/**
 * Writes and removes a small file: only this shows whether the file system is full, read-only or in safe mode. The file's time shows the
 * difference of the clocks.
 */
async function fileSystemFinding(
  { fileSystems, user, isSecured }: Cluster,
  { stagingDir, trustedOwners, now }: DoctorOptions,
): Promise<Finding[]> {
  const root = await stagingRoot(fileSystems, { stagingDir });
  const warning = await requireTrustedFolders(root, { user, trustedOwners, believesNames: !isSecured });
  const folder = StagingFolder.of({ ...root, path: `${root.path}/doctor-${process.pid}` }, String(now()));
  await folder.fileSystem.mkdirs(folder.path, 0o700);
  try {
    const startMs = now();
    const { modificationTimeMs } = await folder.write("probe", Buffer.from("tony-ts doctor"));
    return [
      { subject: "HDFS", state: "well", found: `${root.fileSystem.uri}${root.path} can be written by ${user}` },
      ...(warning === undefined ? [] : [{ subject: "HDFS", state: "remark", found: warning } as const]),
      clockFinding(modificationTimeMs, { startMs, endMs: now() }),
    ];
  } finally {
    await root.fileSystem.delete(`${root.path}/doctor-${process.pid}`, { recursive: true });
  }
}

async function lookAtQueue({ resourceManager }: Cluster, name: string): Promise<Finding> {
  const [queue, root, acls] = await Promise.all([
    resourceManager.queue(name, { children: true }),
    resourceManager.queue("root", { children: true, recursive: true }),
    resourceManager.queueUserAcls(),
  ]);
  return queueFinding(name, { queue, root, acls });
}

async function lookAtResources({ resourceManager }: Cluster, gpuTypes: readonly string[]): Promise<Finding> {
  const [types, nodes, { maximum }] = await Promise.all([
    resourceManager.resourceTypes(),
    resourceManager.nodes(["RUNNING"]),
    resourceManager.newApplication(),
  ]);
  return resourcesFinding(types, nodes, { maximum, gpuTypes });
}

async function lookAtLabels({ resourceManager }: Cluster, queueName: string): Promise<Finding> {
  const [labels, queue, nodes] = await Promise.all([
    resourceManager.nodeLabels(),
    resourceManager.queue(queueName),
    resourceManager.nodes(nodeStatesAsked),
  ]);
  return labelsFinding(queueName, { labels, queue, away: awayNodes(nodes) });
}

async function runtimeFinding({
  nodeBinary: setting,
  namedRuntimes: byArchitecture,
}: OfflineOptions): Promise<Finding> {
  const runtime = await chooseRuntime({ setting, byArchitecture, running: process.execPath });
  return { subject: "runtime", state: "well", found: runtimeWords(runtime) };
}

function runtimeWords(runtime: RuntimeChoice): string {
  if (runtime.kind === "mixed") {
    const each = Object.entries(runtime.of).map(([architecture, one]) => `${architecture}: ${runtimeWords(one)}`);
    return each.join("; ");
  }
  if (runtime.kind === "send") return `${runtime.path} travels with jobs`;
  return runtime.kind === "stored" ? `${runtime.url} is used` : `${runtime.path} of the nodes is used`;
}
