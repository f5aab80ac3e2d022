import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { daemonsOf } from "./daemons.mjs";
import { layout, stateFolder } from "./folders.mjs";
import { activeUrl, masterState } from "./hadoop-state.mjs";
import { defaultFileSystem } from "./high-availability.mjs";
import { logFile, processesOf, runningPid } from "./processes.mjs";
import { readRecord } from "./record.mjs";
import { STORE_PASSWORD } from "./secure/certificates.mjs";
import { nodeName } from "./site-files.mjs";

/**
 * The cluster and its daemons as data, which `status --json` prints and the tests read.
 * @param {string} name
 */
export async function clusterStatus(name) {
  const cluster = await readRecord(stateFolder(name));
  if (cluster === undefined) return undefined;
  const { prepared, conf, bin, daemonData, logs } = layout(cluster.state);
  const daemons = await Promise.all(
    daemonsOf(cluster).map(async (daemon) => {
      const pid = await runningPid(cluster, daemon);
      const { name: daemonName, title, host, ports, url, user } = daemon;
      const memory = pid === undefined ? undefined : await residentMiB(pid);
      const haState = pid === undefined || !cluster.settings.ha ? undefined : await masterState(cluster, daemon);
      return {
        name: daemonName,
        title,
        host,
        ports,
        url,
        user: user.name,
        pid,
        rssMiB: memory,
        haState,
        log: logFile(cluster, daemon),
      };
    }),
  );
  const nameNode = await activeUrl(cluster, "NameNode");
  const resourceManager = await activeUrl(cluster, "ResourceManager");
  const resourceManagerHost = new URL(resourceManager).hostname;
  return {
    ...cluster,
    up: existsSync(prepared) && daemons.every(({ pid }) => pid !== undefined),
    confDir: conf,
    bin,
    logs,
    endpoints: {
      hdfs: defaultFileSystem(cluster),
      webHdfs: `${nameNode}/webhdfs/v1`,
      httpFs: daemons.find(({ name: daemonName }) => daemonName === "httpfs")?.url,
      router: daemons.find(({ name: daemonName }) => daemonName === "router")?.url,
      resourceManager,
      resourceManagerRpc: `${resourceManagerHost}:8032`,
      schedulerRpc: `${resourceManagerHost}:8030`,
    },
    nodes: cluster.addresses.nodes.map((host, index) => ({
      name: nodeName(index),
      nodeId: `${host}:8041`,
      http: daemons.find(({ name: daemonName }) => daemonName === nodeName(index))?.url,
      folder: daemonData(nodeName(index)),
    })),
    daemons,
    security: cluster.settings.secure ? securityOf(cluster) : undefined,
    containerProcesses: (await processesOf(cluster.state)).containers,
  };
}

/** Paths, and the password of the store with the certificate of all web servers. @param {{ state: string }} cluster */
function securityOf({ state }) {
  const { krb5Conf, keytabs, certificateAuthority, keyStore } = layout(state).secure;
  return { krb5Conf, keytabs, certificateAuthority, keyStore: { file: keyStore, password: STORE_PASSWORD } };
}

/** @param {number} pid */
async function residentMiB(pid) {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(status.match(/VmRSS:\s+(\d+)/)?.[1] ?? 0) / 1024);
}
