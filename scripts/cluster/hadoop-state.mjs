// @ts-nocheck
import { setTimeout as sleep } from "node:timers/promises";
import { daemonsOf } from "./daemons.mjs";
import { change, getJson } from "./http.mjs";
import { PEOPLE } from "./secure/names.mjs";
import { GPU_NODE } from "./site-files.mjs";

/** What the daemons say of themselves, and what a new cluster needs set in them. All over their REST interfaces. */

const bean = async (cluster, url, query) => (await getJson(cluster, `${url}/jmx?qry=${query}`))?.beans?.[0];

/** @typedef {import("./record.mjs").ClusterRecord} ClusterRecord */

/** How each kind of master says whether it is the active one; one without a second says so too. */
const STATE_OF = {
  NameNode: async (cluster, url) => (await bean(cluster, url, "Hadoop:service=NameNode,name=NameNodeStatus"))?.State,
  ResourceManager: async (cluster, url) =>
    (await getJson(cluster, `${url}/ws/v1/cluster/info`))?.clusterInfo?.haState?.toLowerCase(),
};

/** @param {import("./daemons.mjs").Daemon} daemon */
export const isMaster = ({ kind }) => Object.hasOwn(STATE_OF, kind);

/**
 * @param {ClusterRecord} cluster
 * @param {import("./daemons.mjs").Daemon} daemon
 * @returns {Promise<"active" | "standby" | undefined>} of a NameNode or ResourceManager: undefined while it is neither
 */
export async function masterState(cluster, { kind, url }) {
  const state = await STATE_OF[kind]?.(cluster, url);
  return ["active", "standby"].includes(state) ? state : undefined;
}

/**
 * The web address of the master that serves, now.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind
 * @returns {Promise<string>} where none does, that of the first
 */
export async function activeUrl(cluster, kind) {
  const [first, ...others] = daemonsOf(cluster).filter((daemon) => daemon.kind === kind);
  for (const other of others) if ((await masterState(cluster, other)) === "active") return other.url;
  return first.url;
}

/** A failover takes ZooKeeper's session, and a busy machine some seconds more. */
const FAILOVER_LIMIT_MS = 60_000;

/**
 * A change that the active master makes. Whoever stands by now, though it was active when it was found, refuses it: the
 * next active one is asked then.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind
 * @param {string} path with its query
 * @param {{ as: string, method: string, body?: unknown }} options
 */
async function changeAtActive(cluster, kind, path, options) {
  const giveUpAt = performance.now() + FAILOVER_LIMIT_MS;
  for (;;) {
    const url = await activeUrl(cluster, kind);
    try {
      return await change(cluster, `${url}${path}`, options);
    } catch (problem) {
      const isReal = (await masterState(cluster, { kind, url })) === "active";
      if (isReal || !cluster.settings.ha || performance.now() > giveUpAt) throw problem;
    }
    await sleep(200);
  }
}

/** Whether of each kind of master one is active, and the other, if there is one, stands by. @param {ClusterRecord} cluster */
export async function mastersAreReady(cluster) {
  for (const kind of Object.keys(STATE_OF)) {
    const states = await Promise.all(
      daemonsOf(cluster)
        .filter((daemon) => daemon.kind === kind)
        .map((daemon) => masterState(cluster, daemon)),
    );
    const active = states.filter((state) => state === "active");
    if (active.length !== 1 || states.includes(undefined)) return false;
  }
  return true;
}

/**
 * Whether HDFS takes writes: every NameNode out of safe mode, with its DataNode, and a router, where there is one, knows the NameNode.
 * @param {ClusterRecord} cluster
 * @returns {Promise<boolean>}
 */
export async function hdfsIsReady(cluster) {
  const ready = daemonsOf(cluster).map((daemon) => IS_READY[daemon.kind]?.(cluster, daemon) ?? true);
  return !(await Promise.all(ready)).includes(false);
}

const IS_READY = { NameNode: nameNodeIsReady, Router: routerIsReady };

async function routerIsReady(cluster, { url }) {
  const answer = await getJson(cluster, `${url}/webhdfs/v1/?op=GETFILESTATUS`, { as: "hdfs" });
  return answer?.FileStatus !== undefined;
}

async function nameNodeIsReady(cluster, { url }) {
  const info = await bean(cluster, url, "Hadoop:service=NameNode,name=NameNodeInfo");
  if (info?.Safemode !== "") return false;
  const system = await bean(cluster, url, "Hadoop:service=NameNode,name=FSNamesystemState");
  return system?.NumLiveDataNodes === 1;
}

/** @param {ClusterRecord} cluster @returns {Promise<number | undefined>} usable NodeManagers, undefined while the ResourceManager is away */
export async function activeNodes(cluster) {
  const url = await activeUrl(cluster, "ResourceManager");
  return (await getJson(cluster, `${url}/ws/v1/cluster/metrics`))?.clusterMetrics?.activeNodes;
}

/** @param {ClusterRecord} cluster @returns {Promise<string[]>} applications that have not ended */
export async function unfinishedApplications(cluster) {
  const url = await activeUrl(cluster, "ResourceManager");
  const states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";
  const answer = await getJson(cluster, `${url}/ws/v1/cluster/apps?states=${states}`);
  return (answer?.apps?.app ?? []).map(({ id }) => id);
}

/** @param {ClusterRecord} cluster @param {string} application */
export async function killApplication(cluster, application) {
  // The user stands in the application's diagnostics.
  const path = `/ws/v1/cluster/apps/${application}/state`;
  const body = { state: "KILLED" };
  await changeAtActive(cluster, "ResourceManager", path, { as: cluster.users.yarn.name, method: "PUT", body });
}

/**
 * The folders HDFS has at a site: /tmp for all, the aggregated logs, and a home for each user but `nohome`.
 * @param {ClusterRecord} cluster
 */
export async function makeHdfsFolders(cluster) {
  const { users, submitter } = cluster;
  await ownedFolder(cluster, "/tmp", "1777", users.hdfs.name);
  await ownedFolder(cluster, "/tmp/logs", "1777", users.yarn.name);
  await ownedFolder(cluster, "/user", "755", users.hdfs.name);
  for (const user of new Set([...PEOPLE, submitter])) {
    // bob's home is open, as some sites have it: only such a one can hold resources that NodeManagers share.
    if (user !== "nohome") await ownedFolder(cluster, `/user/${user}`, user === "bob" ? "755" : "700", user);
  }
}

/**
 * Makes a folder in HDFS, or makes one like that of it.
 * @param {ClusterRecord} cluster @param {string} path @param {string} permission in octal @param {string} owner
 */
export async function ownedFolder(cluster, path, permission, owner) {
  const { hdfs, yarn } = cluster.users;
  const call = (query) =>
    changeAtActive(cluster, "NameNode", `/webhdfs/v1${path}?${query}`, { as: hdfs.name, method: "PUT" });
  await call(`op=MKDIRS&permission=${permission}`);
  // MKDIRS leaves an existing folder as it is.
  await call(`op=SETPERMISSION&permission=${permission}`);
  await call(`op=SETOWNER&owner=${owner}&group=${owner === yarn.name ? "hadoop" : owner}`);
}

/**
 * Makes the label `gpu` and puts it on the second node. The ResourceManager keeps both, saying it twice does no harm.
 * @param {ClusterRecord} cluster
 */
export async function labelGpuNode(cluster) {
  const { addresses, users, settings } = cluster;
  const address = addresses.nodes[GPU_NODE];
  // FairScheduler knows no labels.
  if (settings.label === "none" || settings.scheduler === "fair" || address === undefined) return;
  const call = (path, body) =>
    changeAtActive(cluster, "ResourceManager", `/ws/v1/cluster/${path}`, { as: users.yarn.name, method: "POST", body });
  await call("add-node-labels", { nodeLabelInfo: [{ name: "gpu", exclusivity: settings.label === "exclusive" }] });
  await call("replace-node-to-labels", { nodeToLabels: [{ nodeId: `${address}:8041`, labels: ["gpu"] }] });
}
