import { existsSync } from "node:fs";
import { chmod, chown, mkdir, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { checkPrerequisites } from "../prerequisites.mjs";
import { Problem } from "../problem.mjs";
import { daemonAccounts } from "./accounts.mjs";
import { makeClassArchive } from "./class-archive.mjs";
import { daemonsOf } from "./daemons.mjs";
import { CHECKOUT, layout, mayEnter, stateFolder } from "./folders.mjs";
import {
  activeNodes,
  activeUrl,
  hdfsIsReady,
  isMaster,
  labelGpuNode,
  makeHdfsFolders,
  mastersAreReady,
} from "./hadoop-state.mjs";
import { formatWhatIsNew } from "./hdfs-format.mjs";
import { isAnswered } from "./http.mjs";
import { makeNetwork } from "./isolation.mjs";
import { folderBytes, jarsFolder, provideJars } from "./jars.mjs";
import { withLock } from "./lock.mjs";
import { accepts, addresses, canListen, claimNetwork } from "./network.mjs";
import { endOfLog, killProcessesOf, logFile, mainThreadFailed, runningPid, startDaemon } from "./processes.mjs";
import { lastLines } from "./programs.mjs";
import { DEFAULT_SETTINGS, readRecord, writeRecord } from "./record.mjs";
import { profilesOf } from "./releases.mjs";
import { hostNames } from "./secure/host-names.mjs";
import { makeEncryptionZone } from "./secure/kms.mjs";
import { expectSecurable, prepareSecurity } from "./secure/secure-cluster.mjs";
import { writeSiteFiles } from "./site-files.mjs";
import { mountSmallDisk, unmountDisks } from "./small-disk.mjs";

/** @import { Account } from "./accounts.mjs" */
/** @import { Daemon } from "./daemons.mjs" */
/** @import { ClusterRecord, Settings } from "./record.mjs" */
/** @import { Prerequisite } from "../prerequisites.mjs" */

/** @typedef {ReturnType<typeof import("./progress.mjs").progressTo>} Progress */

/** A loaded machine takes a minute; a longer start means that something is wrong. */
const START_LIMIT_MS = 120_000;

/**
 * Brings up the cluster with that name: creates what is absent, starts what does not run, and waits until jobs can be
 * submitted.
 * @param {string} name
 * @param {Partial<Settings>} wanted settings given by the caller
 * @param {Progress} progress
 * @returns {Promise<ClusterRecord>}
 */
export async function up(name, wanted, progress) {
  return await start(name, wanted, await prepareJars(wanted, progress), progress);
}

/**
 * The same when the jars are prepared already.
 * @param {string} name
 * @param {Partial<Settings>} wanted
 * @param {Awaited<ReturnType<typeof prepareJars>>} prepared
 * @param {Progress} progress
 * @returns {Promise<ClusterRecord>}
 */
export async function start(name, wanted, { java, jars }, progress) {
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
      const { nodes, ha } = cluster.settings;
      const masters = ha ? "HDFS with 2 NameNodes, 2 ResourceManagers" : "HDFS, ResourceManager";
      const url = await activeUrl(cluster, "ResourceManager");
      const what = `${masters}, ${nodes} NodeManager${nodes === 1 ? "" : "s"}  ${url}`;
      return started ? what : `${what}  (was up)`;
    });
    return cluster;
  });
}

/**
 * Checks this machine's prerequisites, and fetches the jars of the Hadoop release on first use; only that needs Maven.
 * @param {Partial<Settings>} wanted
 * @param {Progress} progress
 */
export async function prepareJars({ release = DEFAULT_SETTINGS.release, secure = false }, progress) {
  // Everything written from here on must be readable for the daemons' users.
  process.umask(0o022);
  const { cached } = await jarsFolder(release);
  /** @type {Prerequisite[]} */
  const needed = ["node", secure ? "jdk" : "java", "container-tools", "accounts"];
  if (!cached) needed.push("maven");
  if (secure) needed.push("network-tools", "kerberos");
  const { java } = await checkPrerequisites(needed);
  if (java === undefined) throw new Error("Java was not looked for");
  let jars = "";
  await progress.step("Hadoop jars", async () => {
    const { folder, downloaded } = await provideJars({ release, java });
    jars = folder;
    return downloaded ? `${Math.round((await folderBytes(folder)) / 2 ** 20)} MiB from Maven Central` : "cached";
  });
  return { java, jars };
}

/**
 * The record of the cluster: that of the running one, or of the one to start.
 * @param {string} name @param {string} state @param {Partial<Settings>} wanted @param {Awaited<ReturnType<typeof prepareJars>>} prepared
 * @returns {Promise<ClusterRecord>}
 */
async function describeCluster(name, state, wanted, { jars, java }) {
  const existing = await readRecord(state);
  if (existing !== undefined && (await countRunning(existing)) > 0) {
    const running = new Map(Object.entries(existing.settings));
    const differing = Object.entries(wanted).flatMap(([key, value]) =>
      isDeepStrictEqual(value, running.get(key)) ? [] : [key],
    );
    if (differing.length === 0) return existing;
    throw new Problem(
      `Cluster ${name} runs with other settings (${differing.join(", ")}): npm run cluster -- down --name ${name}, then up again.`,
      { exitCode: 2 },
    );
  }
  const settings = { ...DEFAULT_SETTINGS, ...wanted };
  if (existing !== undefined && hdfsOf(settings) !== hdfsOf(existing.settings)) {
    throw new Problem(
      `Cluster ${name} has the HDFS of ${hdfsOf(existing.settings)}, which is kept: npm run cluster -- down --delete --name ${name}, then up again.`,
      { exitCode: 2 },
    );
  }
  for (const [option, node] of Object.entries({ isolate: settings.isolate, "small-disk": settings.smallDisk })) {
    if (node <= settings.nodes) continue;
    throw new Problem(`--${option} ${node}: there are ${settings.nodes} NodeManagers`, { exitCode: 2 });
  }
  if (settings.secure) expectSecurable(settings);
  const { httpfs, router, secure, release } = settings;
  for (const { option, chosen, profile } of [
    { option: "httpfs", chosen: httpfs, profile: "httpfs" },
    { option: "router", chosen: router, profile: "router" },
    { option: "secure", chosen: secure, profile: "kms" },
  ]) {
    if (!chosen || profilesOf(release).includes(profile)) continue;
    throw new Problem(`--${option}: no jars of it are fetched for Hadoop ${release}`, { exitCode: 2 });
  }
  if (settings.router && settings.ha) {
    throw new Problem("--router stands in front of one NameNode: leave out --ha", { exitCode: 2 });
  }
  const network = await claimNetwork({ name, state });
  const cluster = {
    name,
    state,
    network,
    addresses: settings.secure
      ? hostNames(network, settings.nodes, { ha: settings.ha })
      : addresses(network, settings.nodes, { isolated: settings.isolate > 0, ha: settings.ha }),
    users: await daemonAccounts(),
    submitter: userInfo().username,
    javaHome: java.home,
    jars,
    classArchive: `${jars}-java-${java.version}.jsa`,
    settings,
  };
  await prepareFolders(cluster);
  await makeNetwork(cluster);
  await writeSiteFiles(cluster);
  if (settings.secure) await prepareSecurity(cluster);
  await writeShim(cluster);
  await writeRecord(cluster);
  return cluster;
}

/** What the format of HDFS on the disk depends on. @param {Settings} settings */
const hdfsOf = ({ release, ha, secure }) =>
  `Hadoop ${release} with ${ha ? "two NameNodes" : "one NameNode"}${secure ? ", secure" : ""}`;

/** @param {ClusterRecord} cluster */
async function countRunning(cluster) {
  const pids = await Promise.all(daemonsOf(cluster).map((daemon) => runningPid(cluster, daemon)));
  return pids.filter((pid) => pid !== undefined).length;
}

/** Daemons whose data survive a `down`: HDFS's, and the KMS with the keys of the encrypted data. */
const KEPT = ["NameNode", "DataNode", "JournalNode", "KMS"];

/**
 * Makes folders owned by the users that write to them. A cluster that does not run has no applications: their remaining files are removed.
 * @param {ClusterRecord} cluster
 */
async function prepareFolders(cluster) {
  const { data, logs, pids, temporary, daemonData } = layout(cluster.state);
  await killProcessesOf(cluster.state);
  await unmountDisks(cluster.state);
  const daemons = daemonsOf(cluster);
  const passing = daemons.filter(({ kind }) => !KEPT.includes(kind)).map(({ name }) => daemonData(name));
  for (const folder of [...passing, logs, temporary]) await rm(folder, { recursive: true, force: true });
  for (const folder of [cluster.state, data, logs, pids, temporary]) await mkdir(folder, { recursive: true });
  await chmod(temporary, 0o1777);
  for (const { name, user } of daemons) await ownedFolder(daemonData(name), user);
  await ownedFolder(join(data, "node-labels"), cluster.users.yarn);
  await mountSmallDisk(cluster);
}

/** @param {string} path @param {Account} owner */
async function ownedFolder(path, { uid, gid }) {
  await mkdir(path, { recursive: true });
  if (process.getuid?.() === 0) await chown(path, uid, gid);
}

/** Writes `tony-ts` for shells that use our `env`: this checkout's bundle, run by the current Node. @param {ClusterRecord} cluster */
async function writeShim({ state }) {
  const { bin } = layout(state);
  const program = join(CHECKOUT, "dist", "programs", "tony-ts.cjs");
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

/** @param {ClusterRecord} cluster @returns {Promise<boolean>} whether anything had to be done; an interrupted `up` is completed */
async function startWhatIsDown(cluster) {
  const { prepared } = layout(cluster.state);
  const daemons = daemonsOf(cluster);
  const down = [];
  for (const daemon of daemons) if ((await runningPid(cluster, daemon)) === undefined) down.push(daemon);
  if (down.length === 0 && existsSync(prepared)) return false;
  await rm(prepared, { force: true });
  await Promise.all(down.map((daemon) => expectFreePorts(daemon)));
  await startInOrder(cluster, down);
  await waitFor(cluster, "the masters to serve", () => mastersAreReady(cluster));
  // A NodeManager that returns within its expiry counted as active all the time: only the NodeManager itself shows that it serves.
  for (const daemon of daemons.filter((any) => !isMaster(any))) await untilItServes(cluster, daemon);
  await waitFor(cluster, "HDFS to take writes", () => hdfsIsReady(cluster));
  await makeHdfsFolders(cluster);
  if (cluster.settings.secure) await makeEncryptionZone(cluster);
  const { length: nodeCount } = cluster.addresses.nodes;
  await waitFor(
    cluster,
    `${nodeCount} NodeManagers to register`,
    async () => (await activeNodes(cluster)) === nodeCount,
  );
  await labelGpuNode(cluster);
  if (down.length === daemons.length) await makeClassArchive(cluster);
  await writeFile(prepared, "");
  return true;
}

/**
 * Starts the daemons first that others depend on. Formatting runs in a JVM of its own: the others start meanwhile and wait for
 * HDFS.
 * @param {ClusterRecord} cluster @param {Daemon[]} daemons
 */
async function startInOrder(cluster, daemons) {
  const first = daemons.filter(({ kind }) => ["KDC", "ZooKeeper", "JournalNode"].includes(kind));
  const formatted = daemons.filter(({ kind }) => ["NameNode", "ZKFC"].includes(kind));
  const others = daemons.filter((daemon) => !first.includes(daemon) && !formatted.includes(daemon));
  for (const daemon of first) await startDaemon(cluster, daemon);
  for (const daemon of first) await untilItServes(cluster, daemon, first);
  for (const daemon of others) await startDaemon(cluster, daemon);
  if (formatted.length > 0) await formatWhatIsNew(cluster);
  for (const daemon of formatted) await startDaemon(cluster, daemon);
}

/** @param {ClusterRecord} cluster @param {Daemon} daemon @param {Daemon[]} [started] daemons that have to keep running meanwhile */
async function untilItServes(cluster, daemon, started) {
  await waitFor(cluster, `${daemon.title} to serve`, () => serves(cluster, daemon), started);
}

/** A web server listens before its application is loaded, which may fail. @param {ClusterRecord} cluster @param {Daemon} daemon */
async function serves(cluster, { host, ports, url }) {
  if ((await Promise.all(ports.map((port) => accepts(host, port)))).includes(false)) return false;
  return url === undefined || (await isAnswered(cluster, url));
}

/** @param {Daemon} daemon */
async function expectFreePorts({ title, host, namespace, ports }) {
  // A namespace is created for one daemon.
  if (namespace !== undefined) return;
  for (const port of ports) {
    if (await canListen(host, port)) continue;
    throw new Problem(
      `${title} cannot start: port ${port} of ${host} is taken by another process.\n` +
        `  which one: ss -ltnp 'sport = :${port}'      or start a cluster of another name: npm run cluster -- up --name other`,
    );
  }
}

/**
 * Waits for a condition while all started daemons run; a failed daemon ends the wait with the last lines of its log.
 * @param {ClusterRecord} cluster @param {string} what @param {() => Promise<boolean>} condition
 */
async function waitFor(cluster, what, condition, started = daemonsOf(cluster)) {
  const giveUpAt = performance.now() + START_LIMIT_MS;
  while (!(await condition())) {
    for (const daemon of started) {
      if (await hasFailed(cluster, daemon)) throw await failedDaemon(cluster, daemon);
    }
    if (performance.now() > giveUpAt) {
      throw new Problem(
        `Waited ${START_LIMIT_MS / 1000} s for ${what}. The daemons' logs: ${layout(cluster.state).logs}`,
      );
    }
    await sleep(100);
  }
}

/** A process may survive the failure of its main thread: other threads keep it alive. @param {ClusterRecord} cluster @param {Daemon} daemon */
async function hasFailed(cluster, daemon) {
  if ((await runningPid(cluster, daemon)) === undefined) return true;
  return mainThreadFailed(await endOfLog(cluster, daemon));
}

/** @param {ClusterRecord} cluster @param {Daemon} daemon */
async function failedDaemon(cluster, daemon) {
  const text = await endOfLog(cluster, daemon);
  return new Problem(
    `${daemon.title} failed to start. The last lines of ${logFile(cluster, daemon)}:\n${lastLines(text)}\n` +
      `When that is mended: npm run cluster -- down --name ${cluster.name}, then up again.`,
  );
}
