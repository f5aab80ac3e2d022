import { readFile, writeFile } from "node:fs/promises";
import { administer } from "./administration.mjs";
import { layout } from "./folders.mjs";

/** @import { Daemon } from "./daemons.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

/**
 * Makes the ResourceManager give a node no more containers, tell the ApplicationMasters, and remove the node when its containers have
 * ended, or after that time.
 * @param {ClusterRecord} cluster @param {Daemon} node @param {number} withinS
 */
export async function decommission(cluster, node, withinS) {
  await exclude(cluster, (hosts) => [...hosts, node.host]);
  await refreshNodes(cluster, ["-g", String(withinS), "-server"]);
}

/**
 * Returns the node to service. If it was already removed, its NodeManager has ended and has to be started.
 * @param {ClusterRecord} cluster @param {Daemon} node
 */
export async function recommission(cluster, node) {
  await exclude(cluster, (hosts) => hosts.filter((host) => host !== node.host));
  await refreshNodes(cluster, []);
}

/** @param {ClusterRecord} cluster @param {(hosts: string[]) => string[]} change */
async function exclude({ state }, change) {
  const file = layout(state).excludedNodes;
  const hosts = (await readFile(file, "utf8")).split("\n").filter((host) => host !== "");
  await writeFile(file, [...new Set(change(hosts)), ""].join("\n"));
}

/** @param {ClusterRecord} cluster @param {string[]} options */
const refreshNodes = (cluster, options) =>
  administer(cluster, "ResourceManager", {
    mainClass: "org.apache.hadoop.yarn.client.cli.RMAdminCLI",
    programArguments: ["-refreshNodes", ...options],
  });
