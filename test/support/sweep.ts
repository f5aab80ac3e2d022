import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type ClusterStatus, clusterStatus } from "./cluster.ts";
import { at, listAt, requestJson } from "./http-json.ts";
import { killApplication } from "./rest-application.ts";

/**
 * `tony.task.stop-grace` (10 s) for programs that take all of it, as long again for executors and the ApplicationMaster to end, and a margin.
 */
const CLEANING_MS = 30_000;
const UNFINISHED = "NEW,NEW_SAVING,SUBMITTED,ACCEPTED,RUNNING";

/**
 * Asserts that jobs have left nothing on the cluster: no running application, no container, no process of one, no
 * staging folder, no listening port. To be called after every cluster test; names everything that is left.
 *
 * Some of it takes a moment by YARN's design (a NodeManager forgets a container one heartbeat after its end), so the
 * sweep looks again until nothing is left or the time of our own cleaning is over: what others would clean up later, the
 * orphan timeout or YARN's, counts as left. It is ended then, so that one failure stays one.
 */
export async function sweep(cluster: ClusterStatus): Promise<void> {
  const giveUpAt = performance.now() + CLEANING_MS;
  for (;;) {
    const left = await leftovers(cluster);
    if (left.length === 0) return;
    if (performance.now() > giveUpAt) {
      await clear(cluster);
      throw new Error(`Left on cluster ${cluster.name}:\n  ${left.join("\n  ")}`);
    }
    await sleep(100);
  }
}

/** Ends all applications, and with them what runs in their containers, and removes all staging folders. */
async function clear(cluster: ClusterStatus): Promise<void> {
  for (const app of await unfinished(cluster))
    await killApplication(cluster, String(at(app, "id")), String(at(app, "user")));
  for (const folder of await stagingFolders(cluster)) {
    const url = `${cluster.endpoints.webHdfs}${folder}?op=DELETE&recursive=true`;
    await requestJson(url, { cluster, as: cluster.users.hdfs.name, method: "DELETE" });
  }
}

/** Everything that jobs have on the cluster now, each thing as a line for people. */
export async function leftovers(cluster: ClusterStatus): Promise<readonly string[]> {
  const [apps, folders, ...others] = await Promise.all([
    unfinished(cluster),
    stagingFolders(cluster),
    containers(cluster),
    processes(cluster),
    listeners(cluster),
  ]);
  return [
    ...apps.map((app) => `application ${at(app, "id")} is ${at(app, "state")}`),
    ...others.flat(),
    ...folders.map((folder) => `staging folder ${folder}`),
  ];
}

async function unfinished(cluster: ClusterStatus): Promise<readonly unknown[]> {
  const url = `${cluster.endpoints.resourceManager}/ws/v1/cluster/apps?states=${UNFINISHED}`;
  const answer = await requestJson(url, { cluster });
  return listAt(answer.body, "apps", "app");
}

async function containers(cluster: ClusterStatus): Promise<string[]> {
  const perNode = await Promise.all(
    cluster.nodes.map(async ({ http, nodeId }) => {
      const answer = await requestJson(`${http}/ws/v1/node/containers`, { cluster });
      return listAt(answer.body, "containers", "container")
        .filter((container) => at(container, "state") !== "DONE")
        .map((container) => `container ${at(container, "id")} on ${nodeId} is ${at(container, "state")}`);
    }),
  );
  return perNode.flat();
}

async function processes({ name }: ClusterStatus): Promise<string[]> {
  const { containerProcesses } = await clusterStatus(name);
  return containerProcesses.map(({ pid, command }) => `process ${pid}: ${command}`);
}

/** The folders `<home>/.tony-ts/<application id>` of all users; the cache and the history beside them are meant to stay. */
async function stagingFolders(cluster: ClusterStatus): Promise<string[]> {
  const list = async (path: string): Promise<string[]> => {
    const url = `${cluster.endpoints.webHdfs}${path}?op=LISTSTATUS`;
    const answer = await requestJson(url, { cluster, as: cluster.users.hdfs.name });
    return listAt(answer.body, "FileStatuses", "FileStatus").map((file) => `${path}/${at(file, "pathSuffix")}`);
  };
  const perHome = await Promise.all((await list("/user")).map((home) => list(`${home}/.tony-ts`)));
  return perHome.flat().filter((path) => /\/application_\d+_\d+$/.test(path));
}

/** Ports at a node's address at which somebody other than its NodeManager listens. */
async function listeners({ daemons, addresses }: ClusterStatus): Promise<string[]> {
  // A secure cluster's hosts have names.
  const numeric = async (host: string) => (await lookup(host)).address;
  const nodes = await Promise.all(addresses.nodes.map(numeric));
  const ofDaemons = await Promise.all(
    daemons.map(async ({ host, ports }) => {
      const address = await numeric(host);
      return ports.map((port) => `${address}:${port}`);
    }),
  );
  const known = new Set(ofDaemons.flat());
  return (await listeningAddresses())
    .filter((address) => nodes.some((node) => address.startsWith(`${node}:`)) && !known.has(address))
    .map((address) => `somebody listens on ${address}`);
}

/** All IPv4 addresses at which somebody listens, `host:port`, from the kernel's table (proc(5): little-endian hex, state 0A). */
async function listeningAddresses(): Promise<string[]> {
  const tables = await Promise.all(["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8")));
  return tables.flatMap((table) =>
    table.split("\n").flatMap((line) => {
      const [, hexAddress = "", hexPort, state] =
        /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2})/.exec(line) ?? [];
      if (hexPort === undefined || state !== "0A") return [];
      // Java and Node listen for IPv4 through IPv6 sockets too: the address is then the last four bytes.
      const bytes = Buffer.from(hexAddress.slice(-8), "hex").reverse();
      return [`${bytes.join(".")}:${Number.parseInt(hexPort, 16)}`];
    }),
  );
}
