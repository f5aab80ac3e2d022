import { readFile, writeFile } from "node:fs/promises";
import { Problem } from "../problem.mjs";
import { daemonsOf, javaCommand } from "./daemons.mjs";
import { layout } from "./folders.mjs";
import { lastLines, runToEnd } from "./programs.mjs";

/**
 * The ResourceManager gives a node no more containers, tells ApplicationMasters, and takes the node out when its containers have ended, or
 * after that time.
 * @param {import("./record.mjs").ClusterRecord} cluster @param {import("./daemons.mjs").Daemon} node @param {number} withinS
 */
export async function decommission(cluster, node, withinS) {
  await exclude(cluster, (hosts) => [...hosts, node.host]);
  await refreshNodes(cluster, ["-g", String(withinS), "-server"]);
}

/** It is used again. One that was taken out by then has ended, and has to be started. */
export async function recommission(cluster, node) {
  await exclude(cluster, (hosts) => hosts.filter((host) => host !== node.host));
  await refreshNodes(cluster, []);
}

async function exclude({ state }, change) {
  const file = layout(state).excludedNodes;
  const hosts = (await readFile(file, "utf8")).split("\n").filter((host) => host !== "");
  await writeFile(file, [...new Set(change(hosts)), ""].join("\n"));
}

async function refreshNodes(cluster, options) {
  const manager = daemonsOf(cluster).find(({ kind }) => kind === "ResourceManager");
  const admin = {
    ...manager,
    name: "rmadmin",
    mainClass: "org.apache.hadoop.yarn.client.cli.RMAdminCLI",
    heapMiB: 64,
    programArguments: ["-refreshNodes", ...options],
  };
  const { code, output } = await runToEnd(javaCommand(cluster, admin), { cwd: cluster.state, user: manager.user });
  if (code !== 0) throw new Problem(`yarn rmadmin -refreshNodes failed (exit ${code}):\n${lastLines(output)}`);
}
