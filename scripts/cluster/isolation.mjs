import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Problem } from "../problem.mjs";

/** @import { Account } from "./accounts.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

const run = promisify(execFile);

/**
 * The network of a cluster whose node N is isolated: a bridge with the addresses of all the others, and a network namespace for
 * that node, connected to the bridge by a veth pair. `unplug` takes down the pair's end at the bridge, like pulling a cable.
 */

/** @param {{ network: number, settings: { isolate: number } }} cluster */
const namesOf = ({ network, settings }) => ({
  bridge: `tony${network}`,
  cable: `tony${network}nm${settings.isolate}`,
  namespace: `tony${network}nm${settings.isolate}`,
});

/**
 * The namespace of a node's processes.
 * @param {ClusterRecord} cluster
 * @param {number} index from 0
 * @returns {string | undefined} undefined: the machine's own network
 */
export function namespaceOf(cluster, index) {
  return cluster.settings.isolate === index + 1 ? namesOf(cluster).namespace : undefined;
}

/**
 * The command that runs another one in a namespace, as that user.
 * @param {string} namespace @param {Account} user @param {string} command @param {string[]} args
 */
export function commandIn(namespace, { uid, gid }, command, args) {
  const enter = [`--net=/run/netns/${namespace}`, `--setuid=${uid}`, `--setgid=${gid}`];
  return { command: "nsenter", args: [...enter, command, ...args] };
}

/** Creates the network again; does nothing where no node is isolated. @param {ClusterRecord} cluster */
export async function makeNetwork(cluster) {
  const { isolate } = cluster.settings;
  if (isolate === 0) return;
  if (process.getuid?.() !== 0) throw new Problem("--isolate makes a network namespace, which needs root.");
  await removeNetwork(cluster);
  const { bridge, cable, namespace } = namesOf(cluster);
  const { nodes, ...masters } = cluster.addresses;
  await ip("link", "add", bridge, "type", "bridge");
  for (const address of [...Object.values(masters), ...nodes.toSpliced(isolate - 1, 1)]) {
    await ip("address", "add", `${address}/24`, "dev", bridge);
  }
  await ip("link", "set", bridge, "up");
  await ip("netns", "add", namespace);
  await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", namespace);
  await ip("link", "set", cable, "master", bridge, "up");
  await ip("-n", namespace, "address", "add", `${nodes[isolate - 1]}/24`, "dev", "eth0");
  for (const device of ["lo", "eth0"]) await ip("-n", namespace, "link", "set", device, "up");
}

/** @param {ClusterRecord} cluster */
export async function removeNetwork(cluster) {
  if (cluster.settings.isolate === 0) return;
  const { bridge, cable, namespace } = namesOf(cluster);
  const absent = () => {};
  await ip("netns", "delete", namespace).catch(absent);
  await ip("link", "delete", cable).catch(absent);
  await ip("link", "delete", bridge).catch(absent);
}

/** Disconnects the isolated node from all others. @param {ClusterRecord} cluster */
export async function unplug(cluster) {
  await ip("link", "set", namesOf(cluster).cable, "down");
}

/** Disconnects it from one other host: nothing that it sends there arrives. @param {ClusterRecord} cluster @param {string} host */
export async function unplugFrom(cluster, host) {
  await ip("-n", namesOf(cluster).namespace, "route", "replace", "unreachable", `${host}/32`);
}

/** Reconnects it with all others. @param {ClusterRecord} cluster */
export async function plug(cluster) {
  const { cable, namespace } = namesOf(cluster);
  await ip("link", "set", cable, "up");
  await ip("-n", namespace, "route", "flush", "type", "unreachable");
}

/** @param {...string} args */
const ip = (...args) => run("ip", args);
