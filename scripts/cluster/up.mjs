import { existsSync } from "node:fs";
import { chmod, chown, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { checkPrerequisites } from "../prerequisites.mjs";
import { Problem } from "../problem.mjs";
import { daemonAccounts } from "./accounts.mjs";
import { makeClassArchive } from "./class-archive.mjs";
import { daemonsOf, javaCommand } from "./daemons.mjs";
import { CHECKOUT, layout, mayEnter, stateFolder } from "./folders.mjs";
import { activeNodes, hdfsIsReady, labelGpuNode, makeHdfsFolders } from "./hadoop-state.mjs";
import { makeNetwork } from "./isolation.mjs";
import { folderBytes, hadoopVersion, jarsFolder, provideJars } from "./jars.mjs";
import { withLock } from "./lock.mjs";
import { accepts, addresses, canListen, claimNetwork } from "./network.mjs";
import { killProcessesOf, logFile, runningPid, startDaemon } from "./processes.mjs";
import { runToEnd } from "./programs.mjs";
import { DEFAULT_SETTINGS, readRecord, writeRecord } from "./record.mjs";
import { nodeName, writeSiteFiles } from "./site-files.mjs";
import { mountSmallDisk, unmountDisks } from "./small-disk.mjs";

/** A loaded machine takes a minute; more means that something is wrong. */
const START_LIMIT_MS = 120_000;

/**
 * Brings the cluster of that name up: makes what is absent, starts what does not run, waits until jobs can be submitted.
 * @param {string} name
 * @param {Partial<import("./record.mjs").Settings>} wanted settings given by the caller
 * @param {{ step: (label: string, work: () => Promise<string>) => Promise<void> }} progress
 * @returns {Promise<import("./record.mjs").ClusterRecord>}
 */
export async function up(name, wanted, progress) {
  const { java, jars } = await prepareJars(progress);
  const state = stateFolder(name);
  if (!mayEnter(state)) {
    throw new Problem(
      `The users hdfs and yarn cannot enter ${state}: open its folders (chmod o+x) or set TONY_CLUSTER_DIR.`,
    );
  }
  await mkdir(state, { recursive: true });
  return await withLock(`cluster ${state}`, async () => {
    const cluster = await describeCluster(name, state, wanted, { jars, java });
    await progress.step("cluster", async () => {
      const started = await startWhatIsDown(cluster);
      const { nodes } = cluster.settings;
      const what = `HDFS, ResourceManager, ${nodes} NodeManager${nodes === 1 ? "" : "s"}  http://${cluster.addresses.master}:8088`;
      return started ? what : `${what}  (was up)`;
    });
    return cluster;
  });
}

/**
 * Checks what this machine must have, and fetches Hadoop's jars on first use; only that needs Maven.
 * @param {{ step: (label: string, work: () => Promise<string>) => Promise<void> }} progress
 */
export async function prepareJars(progress) {
  // Whatever is written from here on must be readable by the daemons' users.
  process.umask(0o022);
  const { cached } = await jarsFolder();
  const { java } = await checkPrerequisites([
    "node",
    "java",
    ...(cached ? [] : ["maven"]),
    "container-tools",
    "accounts",
  ]);
  let jars = "";
  await progress.step("Hadoop jars", async () => {
    const { folder, downloaded } = await provideJars({ java });
    jars = folder;
    return downloaded ? `${Math.round((await folderBytes(folder)) / 2 ** 20)} MiB from Maven Central` : "cached";
  });
  return { java, jars };
}

/** The record of the cluster: as it runs, or as it will be started. */
async function describeCluster(name, state, wanted, { jars, java }) {
  const existing = await readRecord(state);
  if (existing !== undefined && (await countRunning(existing)) > 0) {
    const differing = Object.keys(wanted).filter((key) => !isDeepStrictEqual(wanted[key], existing.settings[key]));
    if (differing.length === 0) return existing;
    throw new Problem(
      `Cluster ${name} runs with other settings (${differing.join(", ")}): npm run cluster -- down --name ${name}, then up again.`,
      { exitCode: 2 },
    );
  }
  const settings = { ...DEFAULT_SETTINGS, ...wanted };
  for (const [option, node] of [
    ["isolate", settings.isolate],
    ["small-disk", settings.smallDisk],
  ]) {
    if (node <= settings.nodes) continue;
    throw new Problem(`--${option} ${node}: there are ${settings.nodes} NodeManagers`, { exitCode: 2 });
  }
  const network = await claimNetwork({ name, state });
  const cluster = {
    name,
    state,
    network,
    addresses: addresses(network, settings.nodes, { isolated: settings.isolate > 0 }),
    users: await daemonAccounts(),
    submitter: userInfo().username,
    javaHome: java.home,
    jars,
    classArchive: `${jars}-java-${java.version}.jsa`,
    hadoopVersion: await hadoopVersion(),
    settings,
  };
  await prepareFolders(cluster);
  await makeNetwork(cluster);
  await writeSiteFiles(cluster, jars);
  await writeShim(cluster);
  await writeRecord(cluster);
  return cluster;
}

async function countRunning(cluster) {
  const pids = await Promise.all(daemonsOf(cluster).map((daemon) => runningPid(cluster, daemon)));
  return pids.filter((pid) => pid !== undefined).length;
}

/** Folders owned by who writes them. A cluster that does not run has no applications: what is left of some is removed. */
async function prepareFolders(cluster) {
  const { data, logs, pids, temporary, nodeData } = layout(cluster.state);
  await killProcessesOf(cluster.state);
  await unmountDisks(cluster.state);
  const nodes = cluster.addresses.nodes.map((_, index) => nodeData(nodeName(index)));
  for (const folder of [join(data, "resourcemanager"), ...nodes, logs, temporary])
    await rm(folder, { recursive: true, force: true });
  for (const folder of [cluster.state, data, logs, pids, temporary]) await mkdir(folder, { recursive: true });
  await chmod(temporary, 0o1777);
  const { hdfs, yarn } = cluster.users;
  await ownedFolder(join(data, "namenode"), hdfs);
  await ownedFolder(join(data, "datanode"), hdfs);
  for (const folder of [join(data, "resourcemanager"), join(data, "node-labels"), ...nodes])
    await ownedFolder(folder, yarn);
  await mountSmallDisk(cluster);
}

async function ownedFolder(path, { uid, gid }) {
  await mkdir(path, { recursive: true });
  if (process.getuid() === 0) await chown(path, uid, gid);
}

/** `tony-ts` for a shell that took our `env`: this checkout's bundle, run by the Node that runs us. */
async function writeShim({ state }) {
  const { bin } = layout(state);
  const program = join(CHECKOUT, "dist", "programs", "tony-ts.mjs");
  await mkdir(bin, { recursive: true });
  await writeFile(
    join(bin, "tony-ts"),
    [
      "#!/bin/sh",
      `if [ ! -f '${program}' ]; then echo "tony-ts is not built yet: npm run build in ${CHECKOUT}" >&2; exit 2; fi`,
      `exec '${process.execPath}' '${program}' "$@"`,
      "",
    ].join("\n"),
    { mode: 0o755 },
  );
}

/** @returns {Promise<boolean>} whether anything was to be done; an `up` that was cut off is completed */
async function startWhatIsDown(cluster) {
  const { prepared } = layout(cluster.state);
  const daemons = daemonsOf(cluster);
  const down = [];
  for (const daemon of daemons) if ((await runningPid(cluster, daemon)) === undefined) down.push(daemon);
  if (down.length === 0 && existsSync(prepared)) return false;
  await rm(prepared, { force: true });
  await Promise.all(down.map((daemon) => expectFreePorts(daemon)));
  // Formatting takes a JVM of its own: the others start meanwhile and wait for HDFS on their own.
  const others = down.filter(({ name }) => name !== "namenode");
  for (const daemon of others) await startDaemon(cluster, daemon);
  const nameNode = down.find(({ name }) => name === "namenode");
  if (nameNode !== undefined) {
    await formatOnce(cluster, nameNode);
    await startDaemon(cluster, nameNode);
  }
  const { master, nodes } = cluster.addresses;
  // A NodeManager that comes back within its expiry was active all the while: only its ports tell that it serves.
  for (const daemon of daemons) await waitFor(cluster, `${daemon.title} to listen`, () => listens(daemon));
  await waitFor(cluster, "HDFS to take writes", () => hdfsIsReady(master));
  await makeHdfsFolders(cluster);
  await waitFor(
    cluster,
    `${nodes.length} NodeManagers to register`,
    async () => (await activeNodes(master)) === nodes.length,
  );
  await labelGpuNode(cluster);
  if (down.length === daemons.length) await makeClassArchive(cluster);
  await writeFile(prepared, "");
  return true;
}

async function listens({ host, ports }) {
  const answers = await Promise.all(ports.map((port) => accepts(host, port)));
  return !answers.includes(false);
}

async function expectFreePorts({ title, host, namespace, ports }) {
  // A namespace is made for one daemon.
  if (namespace !== undefined) return;
  for (const port of ports) {
    if (await canListen(host, port)) continue;
    throw new Problem(
      `${title} cannot start: port ${port} of ${host} is taken by another process.\n` +
        `  which one: ss -ltnp 'sport = :${port}'      or start a cluster of another name: npm run cluster -- up --name other`,
    );
  }
}

async function formatOnce(cluster, nameNode) {
  if (existsSync(join(layout(cluster.state).data, "namenode", "current"))) return;
  const format = { ...nameNode, name: "format" };
  const { code, output } = await runToEnd(
    javaCommand(cluster, format, { programArguments: ["-format", "-nonInteractive"] }),
    {
      cwd: cluster.state,
      user: nameNode.user,
    },
  );
  if (code !== 0)
    throw new Problem(`The NameNode's folder could not be formatted (exit ${code}):\n${lastLines(output)}`);
}

/** Waits for a condition as long as every daemon lives; a dead one ends the wait with the last lines of its log. */
async function waitFor(cluster, what, condition) {
  const giveUpAt = performance.now() + START_LIMIT_MS;
  while (!(await condition())) {
    for (const daemon of daemonsOf(cluster)) {
      if ((await runningPid(cluster, daemon)) === undefined) throw await deadDaemon(cluster, daemon);
    }
    if (performance.now() > giveUpAt) {
      throw new Problem(
        `Waited ${START_LIMIT_MS / 1000} s for ${what}. The daemons' logs: ${layout(cluster.state).logs}`,
      );
    }
    await sleep(100);
  }
}

async function deadDaemon(cluster, daemon) {
  const log = logFile(cluster, daemon);
  const text = await readFile(log, "utf8").catch(() => "");
  return new Problem(
    `${daemon.title} ended while it started. The last lines of ${log}:\n${lastLines(text)}\n` +
      `When that is mended: npm run cluster -- down --name ${cluster.name}, then up again.`,
  );
}

/** The lines people need: the last ones, without stack frames and the banner of a shutdown. */
const lastLines = (text) =>
  text
    .trim()
    .split("\n")
    .filter((line) => !/^\s+(at |\.\.\. \d+ more)|SHUTDOWN_MSG|^[/*]+$/.test(line))
    .slice(-12)
    .map((line) => `  | ${line.slice(0, 300)}`)
    .join("\n");
