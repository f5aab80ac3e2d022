import { setTimeout as sleep } from "node:timers/promises";
import { daemonsOf, theDaemon, webAddressOf } from "./daemons.mjs";
import { at, change, getJson } from "./http.mjs";
import { PEOPLE } from "./secure/names.mjs";
import { GPU_NODE } from "./site-files.mjs";

/** @import { Daemon } from "./daemons.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

/** Reads the state of the daemons, and sets up what a new cluster needs in them; all through their REST interfaces. */

/**
 * A value of a daemon's JMX.
 * @param {ClusterRecord} cluster @param {string} url @param {string} bean @param {string} attribute
 */
const jmx = async (cluster, url, bean, attribute) =>
  at(await getJson(cluster, `${url}/jmx?qry=${bean}`), "beans", 0, attribute);

/**
 * How each kind of master reports whether it is active; a single master reports that, too.
 * @type {Record<string, (cluster: ClusterRecord, url: string) => Promise<unknown>>}
 */
const STATE_OF = {
  NameNode: (cluster, url) => jmx(cluster, url, "Hadoop:service=NameNode,name=NameNodeStatus", "State"),
  ResourceManager: async (cluster, url) =>
    at(await getJson(cluster, `${url}/ws/v1/cluster/info`), "clusterInfo", "haState"),
};

/** @param {Daemon} daemon */
export const isMaster = ({ kind }) => Object.hasOwn(STATE_OF, kind);

/**
 * @param {ClusterRecord} cluster
 * @param {Daemon} daemon
 * @returns {Promise<"active" | "standby" | undefined>} the state of a NameNode or ResourceManager; undefined while it
 * is neither
 */
export async function masterState(cluster, daemon) {
  const state = String(await STATE_OF[daemon.kind]?.(cluster, webAddressOf(daemon))).toLowerCase();
  return state === "active" || state === "standby" ? state : undefined;
}

/**
 * The active master; where there is none, the first one.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind
 */
async function activeMaster(cluster, kind) {
  const [, ...others] = daemonsOf(cluster).filter((daemon) => daemon.kind === kind);
  for (const other of others) if ((await masterState(cluster, other)) === "active") return other;
  return theDaemon(cluster, kind);
}

/**
 * Its web address.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind
 */
export async function activeUrl(cluster, kind) {
  return webAddressOf(await activeMaster(cluster, kind));
}

/** A failover takes as long as ZooKeeper's session, and a few seconds more on a busy machine. */
const FAILOVER_LIMIT_MS = 60_000;

/**
 * Makes a change at the active master. One that has become a standby since it was looked up refuses it: then the next
 * active one is asked.
 * @param {ClusterRecord} cluster
 * @param {"NameNode" | "ResourceManager"} kind
 * @param {string} path with its query
 * @param {{ as: string, method: string, body?: unknown }} options
 */
async function changeAtActive(cluster, kind, path, options) {
  const giveUpAt = performance.now() + FAILOVER_LIMIT_MS;
  for (;;) {
    const master = await activeMaster(cluster, kind);
    try {
      return await change(cluster, `${webAddressOf(master)}${path}`, options);
    } catch (problem) {
      const isReal = (await masterState(cluster, master)) === "active";
      if (isReal || !cluster.settings.ha || performance.now() > giveUpAt) throw problem;
    }
    await sleep(200);
  }
}

/** Whether each kind of master has one that is active, and the other, if any, is a standby. @param {ClusterRecord} cluster */
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
 * Whether HDFS accepts writes: every NameNode has left safe mode and has its DataNode, and a router, if there is one, knows the
 * NameNode.
 * @param {ClusterRecord} cluster
 * @returns {Promise<boolean>}
 */
export async function hdfsIsReady(cluster) {
  const ready = daemonsOf(cluster).map((daemon) => IS_READY[daemon.kind]?.(cluster, webAddressOf(daemon)) ?? true);
  return !(await Promise.all(ready)).includes(false);
}

/** @type {Record<string, (cluster: ClusterRecord, url: string) => Promise<boolean>>} */
const IS_READY = { NameNode: nameNodeIsReady, Router: routerIsReady };

/** @param {ClusterRecord} cluster @param {string} url */
async function routerIsReady(cluster, url) {
  const answer = await getJson(cluster, `${url}/webhdfs/v1/?op=GETFILESTATUS`, { as: "hdfs" });
  return at(answer, "FileStatus") !== undefined;
}

/** @param {ClusterRecord} cluster @param {string} url */
async function nameNodeIsReady(cluster, url) {
  if ((await jmx(cluster, url, "Hadoop:service=NameNode,name=NameNodeInfo", "Safemode")) !== "") return false;
  return (await jmx(cluster, url, "Hadoop:service=NameNode,name=FSNamesystemState", "NumLiveDataNodes")) === 1;
}

/** @param {ClusterRecord} cluster @returns {Promise<unknown>} how many NodeManagers are usable; undefined while the ResourceManager is unavailable */
export async function activeNodes(cluster) {
  const url = await activeUrl(cluster, "ResourceManager");
  return at(await getJson(cluster, `${url}/ws/v1/cluster/metrics`), "clusterMetrics", "activeNodes");
}

/** @param {ClusterRecord} cluster @returns {Promise<string[]>} applications that have not ended */
export async function unfinishedApplications(cluster) {
  const url = await activeUrl(cluster, "ResourceManager");
  const states = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";
  const answer = await getJson(cluster, `${url}/ws/v1/cluster/apps?states=${states}`);
  const applications = at(answer, "apps", "app");
  return Array.isArray(applications) ? applications.map((application) => String(at(application, "id"))) : [];
}

/** @param {ClusterRecord} cluster @param {string} application */
export async function killApplication(cluster, application) {
  // The user is named in the application's diagnostics.
  const path = `/ws/v1/cluster/apps/${application}/state`;
  const body = { state: "KILLED" };
  await changeAtActive(cluster, "ResourceManager", path, { as: cluster.users.yarn.name, method: "PUT", body });
}

/**
 * Makes the folders that HDFS has on a real site: /tmp for everybody, the aggregated logs, and a home for each user
 * except `nohome`.
 * @param {ClusterRecord} cluster
 */
export async function makeHdfsFolders(cluster) {
  const { users, submitter } = cluster;
  await ownedFolder(cluster, "/tmp", "1777", users.hdfs.name);
  await ownedFolder(cluster, "/tmp/logs", "1777", users.yarn.name);
  await ownedFolder(cluster, "/user", "755", users.hdfs.name);
  for (const user of new Set([...PEOPLE, submitter])) {
    // bob's home is open, as on some sites: only then can it contain resources that NodeManagers share between users.
    if (user !== "nohome") await ownedFolder(cluster, `/user/${user}`, user === "bob" ? "755" : "700", user);
  }
}

/**
 * Makes a folder in HDFS, or gives an existing one this permission and owner.
 * @param {ClusterRecord} cluster @param {string} path @param {string} permission in octal @param {string} owner
 */
export async function ownedFolder(cluster, path, permission, owner) {
  const { hdfs, yarn } = cluster.users;
  const call = (/** @type {string} */ query) =>
    changeAtActive(cluster, "NameNode", `/webhdfs/v1${path}?${query}`, { as: hdfs.name, method: "PUT" });
  await call(`op=MKDIRS&permission=${permission}`);
  // MKDIRS does not change an existing folder.
  await call(`op=SETPERMISSION&permission=${permission}`);
  await call(`op=SETOWNER&owner=${owner}&group=${owner === yarn.name ? "hadoop" : owner}`);
}

/**
 * Creates the label `gpu` and assigns it to the second node. The ResourceManager stores both; repeating it does no
 * harm.
 * @param {ClusterRecord} cluster
 */
export async function labelGpuNode(cluster) {
  const { addresses, users, settings } = cluster;
  const address = addresses.nodes[GPU_NODE];
  // FairScheduler has no labels.
  if (settings.label === "none" || settings.scheduler === "fair" || address === undefined) return;
  const call = (/** @type {string} */ path, /** @type {object} */ body) =>
    changeAtActive(cluster, "ResourceManager", `/ws/v1/cluster/${path}`, { as: users.yarn.name, method: "POST", body });
  await call("add-node-labels", { nodeLabelInfo: [{ name: "gpu", exclusivity: settings.label === "exclusive" }] });
  await call("replace-node-to-labels", { nodeToLabels: [{ nodeId: `${address}:8041`, labels: ["gpu"] }] });
}
