import { readdirSync } from "node:fs";
import { join } from "node:path";
import { layout } from "./folders.mjs";
import { namespaceOf } from "./isolation.mjs";
import { nodeName } from "./site-files.mjs";

/**
 * One daemon of a cluster: a JVM of its own.
 * @typedef {object} Daemon
 * @property {string} name namenode, datanode, resourcemanager, nm1, nm2, …
 * @property {string} title as Hadoop calls it
 * @property {string} mainClass
 * @property {number} heapMiB
 * @property {import("./accounts.mjs").Account} user
 * @property {string[]} classPath
 * @property {string} host
 * @property {string} [namespace] the network namespace it runs in, where that is not the machine's own
 * @property {number[]} ports it listens on, and nobody else may
 * @property {string} url its web address
 */

/** All daemons of a cluster in the order in which they are started. @param {import("./record.mjs").ClusterRecord} cluster @returns {Daemon[]} */
export function daemonsOf(cluster) {
  const { conf, nodeConf, state } = layout(cluster.state);
  const { master, nodes } = cluster.addresses;
  const { hdfs, yarn } = cluster.users;
  // A class archive fits a class path that starts as the one it was made with: the jars, in a fixed order. None of them
  // holds a file that these folders have.
  const libraries = libraryPath(cluster.jars);
  const shared = [...libraries, conf, state];
  return [
    {
      name: "namenode",
      title: "NameNode",
      mainClass: "org.apache.hadoop.hdfs.server.namenode.NameNode",
      heapMiB: 256,
      user: hdfs,
      classPath: shared,
      host: master,
      ports: [8020, 9870],
      url: `http://${master}:9870`,
    },
    {
      name: "datanode",
      title: "DataNode",
      mainClass: "org.apache.hadoop.hdfs.server.datanode.DataNode",
      heapMiB: 256,
      user: hdfs,
      classPath: shared,
      host: master,
      ports: [9864, 9866, 9867],
      url: `http://${master}:9864`,
    },
    {
      name: "resourcemanager",
      title: "ResourceManager",
      mainClass: "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
      heapMiB: 384,
      user: yarn,
      classPath: shared,
      host: master,
      ports: [8030, 8031, 8032, 8033, 8088],
      url: `http://${master}:8088`,
    },
    ...nodes.map((host, index) => ({
      name: nodeName(index),
      title: `NodeManager ${index + 1}`,
      mainClass: "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
      heapMiB: 256,
      user: yarn,
      classPath: [...libraries, nodeConf(nodeName(index)), conf, state],
      host,
      namespace: namespaceOf(cluster, index),
      ports: [8040, 8041, 8042],
      url: `http://${host}:8042`,
    })),
  ];
}

/** The argument by which a daemon is known among all processes of the machine. @param {string} state @param {string} name */
export const markersOf = (state, name) => [`-Dtony.cluster=${state}`, `-Dtony.daemon=${name}`];

/** Hadoop's jars in an order that is the same every time. @param {string} jars their folder @returns {string[]} */
export const libraryPath = (jars) =>
  readdirSync(jars)
    .sort()
    .map((name) => join(jars, name));

/** Of every JVM here: start-up time and memory count, not throughput. */
export const JVM_FLAGS = [
  "-XX:+UseSerialGC",
  "-XX:TieredStopAtLevel=1",
  "-XX:-UsePerfData",
  "-Djava.net.preferIPv4Stack=true",
  // Hadoop 3.4 is made for Java 8: its web frameworks reach into java.lang by reflection.
  "--add-opens=java.base/java.lang=ALL-UNNAMED",
];

/**
 * The command of a daemon's JVM.
 * @param {import("./record.mjs").ClusterRecord} cluster
 * @param {Pick<Daemon, "name" | "mainClass" | "heapMiB" | "classPath">} daemon
 * @param {{ flags?: string[], programArguments?: string[] }} [options]
 */
export function javaCommand(cluster, daemon, { flags = [], programArguments = [] } = {}) {
  return {
    command: join(cluster.javaHome, "bin", "java"),
    args: [
      ...markersOf(cluster.state, daemon.name),
      `-Xmx${daemon.heapMiB}m`,
      ...JVM_FLAGS,
      ...flags,
      // Names come from this file alone, so that addresses stay addresses whatever this machine's own files say.
      `-Djdk.net.hosts.file=${layout(cluster.state).hosts}`,
      `-Djava.io.tmpdir=${layout(cluster.state).temporary}`,
      `-Dhadoop.home.dir=${cluster.state}`,
      daemon.mainClass,
      ...programArguments,
    ],
    /** Nothing of the caller's environment: what a developer has set must not change what containers see. No
     * HADOOP_CONF_DIR either, which NodeManagers would hand on: a job must bring what it needs. */
    environment: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      LANG: "C.UTF-8",
      JAVA_HOME: cluster.javaHome,
      CLASSPATH: daemon.classPath.join(":"),
    },
  };
}
