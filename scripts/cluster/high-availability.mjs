import { join } from "node:path";
import { layout } from "./folders.mjs";

/** @import { ClusterRecord } from "./record.mjs" */

/**
 * The effect of `--ha`: two masters of each kind, one of them active. ZooKeeper elects the ResourceManager directly and the
 * NameNode through a ZKFC next to each; a JournalNode stores what the active NameNode writes and the other reads. There is
 * only one ZooKeeper and one JournalNode: the masters' failover is what is tested, and one is a majority of one.
 */

/** The name of HDFS in paths, whichever NameNode is active. */
export const NAME_SERVICE = "tony";

/** After this time without a sign of life the other master takes over; Hadoop's default is 10 s. */
const SESSION_MS = "3000";

/**
 * The masters, numbered as in Hadoop's keys; none without `--ha`.
 * @param {ClusterRecord} cluster
 * @returns {{ host: string, number: number, nameNode: string, resourceManager: string }[]}
 */
export function eachMaster({ addresses: { master, secondMaster } }) {
  if (secondMaster === undefined) return [];
  return [master, secondMaster].map((host, index) => {
    const number = index + 1;
    return { host, number, nameNode: `nn${number}`, resourceManager: `rm${number}` };
  });
}

/** The value of `fs.defaultFS`. @param {ClusterRecord} cluster */
export const defaultFileSystem = ({ settings, addresses }) =>
  settings.ha ? `hdfs://${NAME_SERVICE}` : `hdfs://${addresses.master}:8020`;

/** ZooKeeper's settings file. @param {ClusterRecord} cluster */
export const zooKeeperSettings = ({ state }) => join(layout(state).daemonConf("zookeeper"), "zoo.cfg");

/**
 * Hadoop's keys for two masters, read by every daemon and client. Only a daemon's own settings say which of the two it is: a client
 * with that setting would ask only that one.
 * @param {ClusterRecord} cluster
 * @returns {Record<string, string>} none without `--ha`
 */
export function highAvailabilityProperties(cluster) {
  const masters = eachMaster(cluster);
  if (masters.length === 0) return {};
  const { master } = cluster.addresses;
  const zooKeeper = `${master}:2181`;
  return {
    "dfs.nameservices": NAME_SERVICE,
    [`dfs.ha.namenodes.${NAME_SERVICE}`]: masters.map(({ nameNode }) => nameNode).join(","),
    [`dfs.client.failover.proxy.provider.${NAME_SERVICE}`]:
      "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider",
    "dfs.namenode.shared.edits.dir": `qjournal://${master}:8485/${NAME_SERVICE}`,
    "dfs.journalnode.rpc-address": `${master}:8485`,
    "dfs.journalnode.http-address": `${master}:8480`,
    "dfs.journalnode.edits.dir": layout(cluster.state).daemonData("journalnode"),
    "dfs.ha.automatic-failover.enabled": "true",
    // Seconds. A starting standby is in safe mode until it has read about all blocks; by default it reads every 2 min.
    "dfs.ha.log-roll.period": "2",
    "dfs.ha.tail-edits.period": "1",
    // The JournalNode only lets the newest active NameNode write.
    "dfs.ha.fencing.methods": "shell(/bin/true)",
    "ha.zookeeper.quorum": zooKeeper,
    "ha.zookeeper.session-timeout.ms": SESSION_MS,
    "hadoop.zk.address": zooKeeper,
    "hadoop.zk.timeout-ms": SESSION_MS,
    "yarn.resourcemanager.ha.enabled": "true",
    "yarn.resourcemanager.cluster-id": cluster.name,
    "yarn.resourcemanager.ha.rm-ids": masters.map(({ resourceManager }) => resourceManager).join(","),
    "yarn.resourcemanager.store.class": "org.apache.hadoop.yarn.server.resourcemanager.recovery.ZKRMStateStore",
    ...Object.assign({}, ...masters.map(addressesOf)),
  };
}

/** @param {ReturnType<typeof eachMaster>[number]} master @returns {Record<string, string>} */
const addressesOf = ({ host, nameNode, resourceManager }) => ({
  [`dfs.namenode.rpc-address.${NAME_SERVICE}.${nameNode}`]: `${host}:8020`,
  [`dfs.namenode.http-address.${NAME_SERVICE}.${nameNode}`]: `${host}:9870`,
  [`yarn.resourcemanager.hostname.${resourceManager}`]: host,
});
