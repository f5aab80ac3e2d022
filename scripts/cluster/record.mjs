import { existsSync } from "node:fs";
import { readFile, rename, writeFile } from "node:fs/promises";
import { layout } from "./folders.mjs";
import { DEFAULT_RELEASE } from "./releases.mjs";

/**
 * The description of a cluster, stored as cluster.json in its state folder. Tests read it through `status --json`.
 * @typedef {object} Settings
 * @property {string} release of Hadoop
 * @property {number} nmHeartbeatMs the interval of NodeManagers' heartbeats, which limits the pace of allocation
 * @property {number} nodes the number of NodeManagers
 * @property {boolean} ha whether there are two ResourceManagers and two NameNodes, with one of each active
 * @property {boolean} httpfs whether an HttpFS runs beside the NameNode
 * @property {boolean} router whether an HDFS router runs in front of the NameNode
 * @property {boolean} timeline whether a timeline server runs beside the ResourceManager
 * @property {boolean} secure whether users are authenticated: Kerberos, tokens, HTTPS
 * @property {"privacy" | "integrity" | "authentication"} protection of RPC and of HDFS's data on a secure cluster
 * @property {number} tokenLifetimeS of the delegation tokens of a secure cluster, in seconds; 0: Hadoop's own, 7 days
 * @property {"exclusive" | "shareable" | "none"} label the kind of the second node's label `gpu`
 * @property {"dominant" | "default"} calculator whether the capacity scheduler counts every resource, or memory alone
 * @property {"capacity" | "fair"} scheduler the ResourceManager's scheduler; the fair one has only the queues that submissions create
 * @property {"heartbeat" | "async" | "multi-node"} scheduling when the capacity scheduler places containers, and over how many nodes at once
 * @property {boolean} preemption whether a queue takes back what the other has borrowed
 * @property {number} isolate the NodeManager, from 1, with a network of its own; 0: none
 * @property {number} smallDisk the NodeManager, from 1, with a small disk of its own for its containers' files; 0: none
 * @property {"quick" | "full"} compiler how the daemons' JVMs compile: for a quick start, or for throughput
 * @property {Record<string, string>} properties Hadoop's keys set by `--set`
 *
 * @typedef {object} ClusterRecord
 * @property {string} name
 * @property {string} state the folder with everything that belongs to it
 * @property {number} network the N in its addresses
 * @property {import("./network.mjs").Addresses} addresses
 * @property {{ hdfs: import("./accounts.mjs").Account, yarn: import("./accounts.mjs").Account }} users
 * @property {string} submitter the user of the person who starts it, who has a home in HDFS too
 * @property {string} javaHome
 * @property {string} jars
 * @property {string} classArchive the archive of the jars' classes for this Java; may not exist yet
 * @property {Settings} settings
 */

/** @type {Settings} */
export const DEFAULT_SETTINGS = {
  release: DEFAULT_RELEASE,
  nmHeartbeatMs: 1000,
  nodes: 2,
  ha: false,
  httpfs: false,
  router: false,
  timeline: false,
  secure: false,
  protection: "privacy",
  tokenLifetimeS: 0,
  label: "shareable",
  calculator: "dominant",
  scheduler: "capacity",
  scheduling: "heartbeat",
  preemption: false,
  isolate: 0,
  smallDisk: 0,
  compiler: "quick",
  properties: {},
};

/** @param {string} state @returns {Promise<ClusterRecord | undefined>} undefined when there was never a cluster there */
export async function readRecord(state) {
  const { record } = layout(state);
  return existsSync(record) ? JSON.parse(await readFile(record, "utf8")) : undefined;
}

/** @param {ClusterRecord} cluster */
export async function writeRecord(cluster) {
  const { record } = layout(cluster.state);
  await writeFile(`${record}.new`, `${JSON.stringify(cluster, null, 2)}\n`);
  await rename(`${record}.new`, record);
}
