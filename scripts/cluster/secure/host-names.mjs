import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { withLock } from "../lock.mjs";
import { addresses } from "../network.mjs";

/** @import { Addresses } from "../network.mjs" */
/** @import { ClusterRecord } from "../record.mjs" */

const run = promisify(execFile);

/**
 * Kerberos and TLS identify hosts by names, never by addresses: a secure cluster's hosts have names of their own, which are in the machine's
 * hosts file while the cluster is up. Network N has the domain `nN.tony.test`.
 */

const HOSTS_FILE = "/etc/hosts";

/** @param {number} network */
export const domainOf = (network) => `n${network}.tony.test`;

/**
 * The names of a secure cluster's hosts.
 * @param {number} network
 * @param {number} nodeCount
 * @returns {Addresses}
 */
export function hostNames(network, nodeCount, { ha = false } = {}) {
  const domain = domainOf(network);
  return {
    master: `master.${domain}`,
    ...(ha ? { secondMaster: `master2.${domain}` } : {}),
    nodes: Array.from({ length: nodeCount }, (_, index) => `nm${index + 1}.${domain}`),
  };
}

/** Every host of a cluster in one list, the masters first. @param {Addresses} hosts */
export const eachHost = ({ master, secondMaster, nodes }) => [
  master,
  ...(secondMaster === undefined ? [] : [secondMaster]),
  ...nodes,
];

/**
 * The address and the name of every host; on an open cluster the name is the address.
 * @param {Pick<ClusterRecord, "network" | "addresses"> & { settings: { secure: boolean, ha: boolean } }} cluster
 * @returns {{ address: string, name: string }[]}
 */
export function hostEntries({ network, addresses: hosts, settings: { secure, ha } }) {
  const names = eachHost(hosts);
  const numbers = secure ? eachHost(addresses(network, hosts.nodes.length, { ha })) : names;
  return names.map((name, index) => ({ address: numbers[index] ?? name, name }));
}

/**
 * Makes the names known to every program of this machine, and adds their addresses to the loopback device: a connection then comes from
 * the address of the host in its principal (Hadoop's Client binds to it), by which a server checks its clients' `_HOST`.
 * @param {ClusterRecord} cluster
 */
export async function publishHostNames(cluster) {
  const entries = hostEntries(cluster);
  await changeHostsFile((lines) => [
    ...lines.filter((line) => !line.endsWith(markOf(cluster))),
    ...entries.map(({ address, name }) => `${address} ${name}${markOf(cluster)}`),
  ]);
  for (const { address } of entries) await run("ip", ["address", "replace", `${address}/32`, "dev", "lo"]);
}

/** @param {ClusterRecord} cluster */
export async function withdrawHostNames(cluster) {
  await changeHostsFile((lines) => lines.filter((line) => !line.endsWith(markOf(cluster))));
  const absent = () => {};
  for (const { address } of hostEntries(cluster)) {
    await run("ip", ["address", "delete", `${address}/32`, "dev", "lo"]).catch(absent);
  }
}

/** @param {{ state: string }} cluster */
const markOf = ({ state }) => ` # ${state}`;

/** Writes the file in place: in a container it is a mount, which cannot be replaced by a rename. @param {(lines: string[]) => string[]} change */
async function changeHostsFile(change) {
  await withLock("hosts file", async () => {
    const lines = readFileSync(HOSTS_FILE, "utf8").trimEnd().split("\n");
    writeFileSync(HOSTS_FILE, `${change(lines).join("\n")}\n`);
  });
}
