import { readdirSync } from "node:fs";
import { join } from "node:path";
import { layout } from "./folders.mjs";
import { eachMaster, zooKeeperSettings } from "./high-availability.mjs";
import { namespaceOf } from "./isolation.mjs";
import { KDC_PORT, KMS_PORT } from "./secure/names.mjs";
import { kdcCommand } from "./secure/realm.mjs";
import { nodeName } from "./site-files.mjs";

/** @import { Account } from "./accounts.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

/**
 * One daemon of a cluster: a separate JVM, except for the KDC.
 * @typedef {object} Daemon
 * @property {string} name namenode, datanode, resourcemanager, nm1, nm2, …; with two masters nn1, nn2, rm1, rm2, …
 * @property {string} kind Hadoop's name for it
 * @property {string} title its kind, with its number where there are several
 * @property {string | undefined} [mainClass] absent for the KDC
 * @property {string[]} [programArguments]
 * @property {string[]} [flags] Java flags, in addition to those of every daemon
 * @property {number} heapMiB
 * @property {Account} user
 * @property {string[]} classPath
 * @property {string} host
 * @property {string | undefined} [namespace] the network namespace it runs in, where that is not the machine's own
 * @property {number[]} ports that it alone listens on
 * @property {string | undefined} [url] its web address, if it has one
 */

const HDFS = "org.apache.hadoop.hdfs";
const YARN = "org.apache.hadoop.yarn.server";

/** For the KDC: nobody else may read its database. */
const ROOT = { name: "root", uid: 0, gid: 0 };

/**
 * A kind of daemon, and its ports on every host: those of its web server, and all others.
 * @typedef {object} Program
 * @property {string} kind
 * @property {string} [mainClass]
 * @property {number} heapMiB
 * @property {number[]} ports
 * @property {{ http?: number, https?: number }} [web]
 *
 * Where it runs, and as which user.
 * @typedef {object} Place
 * @property {string} name
 * @property {number} [number] if there are several of its kind
 * @property {Account} user
 * @property {string} host
 * @property {string | undefined} [namespace]
 * @property {string[]} [programArguments]
 * @property {string[]} [flags]
 * @property {string} [settingsOf] the daemon whose own settings it reads, if any
 */

/** @satisfies {Record<string, Program>} */
const PROGRAMS = {
  nameNode: {
    kind: "NameNode",
    mainClass: `${HDFS}.server.namenode.NameNode`,
    heapMiB: 256,
    ports: [8020],
    web: { http: 9870, https: 9871 },
  },
  dataNode: {
    kind: "DataNode",
    mainClass: `${HDFS}.server.datanode.DataNode`,
    heapMiB: 256,
    ports: [9866, 9867],
    web: { http: 9864, https: 9865 },
  },
  resourceManager: {
    kind: "ResourceManager",
    mainClass: `${YARN}.resourcemanager.ResourceManager`,
    heapMiB: 384,
    ports: [8030, 8031, 8032, 8033],
    web: { http: 8088, https: 8090 },
  },
  nodeManager: {
    kind: "NodeManager",
    mainClass: `${YARN}.nodemanager.NodeManager`,
    heapMiB: 256,
    ports: [8040, 8041],
    web: { http: 8042, https: 8044 },
  },
  zooKeeper: {
    kind: "ZooKeeper",
    mainClass: "org.apache.zookeeper.server.quorum.QuorumPeerMain",
    heapMiB: 64,
    ports: [2181],
  },
  journalNode: {
    kind: "JournalNode",
    mainClass: `${HDFS}.qjournal.server.JournalNode`,
    heapMiB: 128,
    ports: [8485],
    web: { http: 8480, https: 8481 },
  },
  httpFs: {
    kind: "HttpFS",
    mainClass: "org.apache.hadoop.fs.http.server.HttpFSServerWebServer",
    heapMiB: 192,
    ports: [],
    web: { http: 14000, https: 14000 },
  },
  router: {
    kind: "Router",
    mainClass: `${HDFS}.server.federation.router.DFSRouter`,
    heapMiB: 192,
    ports: [8111, 8888],
    web: { http: 50071 },
  },
  kms: {
    kind: "KMS",
    mainClass: "org.apache.hadoop.crypto.key.kms.server.KMSWebServer",
    heapMiB: 192,
    ports: [],
    web: { https: KMS_PORT },
  },
  timelineServer: {
    kind: "TimelineServer",
    mainClass: `${YARN}.applicationhistoryservice.ApplicationHistoryServer`,
    heapMiB: 128,
    ports: [10200],
    web: { http: 8188, https: 8190 },
  },
  kdc: { kind: "KDC", heapMiB: 0, ports: [KDC_PORT] },
  failoverController: { kind: "ZKFC", mainClass: `${HDFS}.tools.DFSZKFailoverController`, heapMiB: 64, ports: [8019] },
};

/** All daemons of a cluster. @param {ClusterRecord} cluster @returns {Daemon[]} */
export function daemonsOf(cluster) {
  const { master, nodes } = cluster.addresses;
  const { hdfs, yarn } = cluster.users;
  const daemon = daemonMaker(cluster);
  const dataNode = daemon(PROGRAMS.dataNode, { name: "datanode", user: hdfs, host: master });
  const nodeManagers = nodes.map((host, index) => {
    const name = nodeName(index);
    const namespace = namespaceOf(cluster, index);
    return daemon(PROGRAMS.nodeManager, { name, number: index + 1, user: yarn, host, settingsOf: name, namespace });
  });
  const { httpfs, router, secure, timeline } = cluster.settings;
  const gateways = [
    ...(httpfs ? [daemon(PROGRAMS.httpFs, webGateway(cluster, "httpfs"))] : []),
    ...(router ? [daemon(PROGRAMS.router, { name: "router", user: hdfs, host: master, settingsOf: "router" })] : []),
    ...(timeline ? [daemon(PROGRAMS.timelineServer, { name: "timelineserver", user: yarn, host: master })] : []),
  ];
  const keepers = secure
    ? [
        daemon(PROGRAMS.kdc, { name: "kdc", user: ROOT, host: master }),
        daemon(PROGRAMS.kms, webGateway(cluster, "kms")),
      ]
    : [];
  const masters = eachMaster(cluster);
  if (masters.length === 0) {
    return [
      ...keepers,
      daemon(PROGRAMS.nameNode, { name: "namenode", user: hdfs, host: master }),
      dataNode,
      daemon(PROGRAMS.resourceManager, { name: "resourcemanager", user: yarn, host: master }),
      ...nodeManagers,
      ...gateways,
    ];
  }
  const programArguments = [zooKeeperSettings(cluster)];
  return [
    ...keepers,
    daemon(PROGRAMS.zooKeeper, { name: "zookeeper", user: hdfs, host: master, programArguments }),
    daemon(PROGRAMS.journalNode, { name: "journalnode", user: hdfs, host: master }),
    ...masters.flatMap(({ host, number, nameNode: nn, resourceManager: rm }) => [
      daemon(PROGRAMS.nameNode, { name: nn, number, user: hdfs, host, settingsOf: nn }),
      daemon(PROGRAMS.failoverController, { name: `zkfc${number}`, number, user: hdfs, host, settingsOf: nn }),
      daemon(PROGRAMS.resourceManager, { name: rm, number, user: yarn, host, settingsOf: rm }),
    ]),
    dataNode,
    ...nodeManagers,
    ...gateways,
  ];
}

/**
 * The first daemon of a kind that the cluster has.
 * @param {ClusterRecord} cluster @param {string} kind
 */
export function theDaemon(cluster, kind) {
  const found = daemonsOf(cluster).find((daemon) => daemon.kind === kind);
  if (found === undefined) throw new Error(`cluster ${cluster.name} has no ${kind}`);
  return found;
}

/** Where a daemon's web server answers. @param {Daemon} daemon */
export function webAddressOf({ title, url }) {
  if (url === undefined) throw new Error(`${title} has no web server`);
  return url;
}

/**
 * HttpFS and the KMS get their folders from Java system properties.
 * @param {ClusterRecord} cluster @param {string} name @returns {Place}
 */
function webGateway({ state, users, addresses }, name) {
  const { daemonConf, daemonData, logs, temporary } = layout(state);
  const folders = { home: daemonData(name), config: daemonConf(name), log: logs, temp: temporary };
  return {
    name,
    user: users.hdfs,
    host: addresses.master,
    settingsOf: name,
    flags: [
      ...Object.entries(folders).map(([key, folder]) => `-D${name}.${key}.dir=${folder}`),
      // Replaces its own configuration file.
      "-Dlog4j.configuration=log4j.properties",
    ],
  };
}

/**
 * Makes a daemon from a program and a place.
 * @param {ClusterRecord} cluster @returns {(program: Program, place: Place) => Daemon}
 */
function daemonMaker(cluster) {
  const { conf, daemonConf, state, secure } = layout(cluster.state);
  const isSecure = cluster.settings.secure;
  // A class archive requires a class path that starts with the one it was made with: the jars, in a fixed order. None
  // of them contains a file that these folders have.
  const libraries = libraryPath(cluster.jars);
  return ({ kind, mainClass, heapMiB, ports, web = {} }, { number, settingsOf, ...daemon }) => {
    const scheme = isSecure ? "https" : "http";
    const webPort = web[scheme];
    return {
      kind,
      title: number === undefined ? kind : `${kind} ${number}`,
      mainClass,
      heapMiB,
      ports: webPort === undefined ? ports : [...ports, webPort],
      classPath: [
        ...(isSecure && kind === "NodeManager" ? [secure.classes] : []),
        ...libraries,
        ...(settingsOf === undefined ? [] : [daemonConf(settingsOf)]),
        conf,
        ...(isSecure ? [secure.daemonConf] : []),
        state,
      ],
      url: webPort === undefined ? undefined : `${scheme}://${daemon.host}:${webPort}`,
      ...daemon,
    };
  };
}

/** The arguments that identify a daemon among all processes of the machine. @param {string} state @param {string} name */
export const markersOf = (state, name) => [`-Dtony.cluster=${state}`, `-Dtony.daemon=${name}`];

/** Hadoop's jars in a fixed order. @param {string} jars their folder @returns {string[]} */
export const libraryPath = (jars) =>
  readdirSync(jars)
    .sort()
    .map((name) => join(jars, name));

/** Flags of every JVM here. */
export const JVM_FLAGS = [
  "-XX:+UseSerialGC",
  "-XX:-UsePerfData",
  "-Djava.net.preferIPv4Stack=true",
  // Hadoop 3.4 is made for Java 8: its web frameworks reach into java.lang by reflection.
  "--add-opens=java.base/java.lang=ALL-UNNAMED",
];

/**
 * How the daemons' JVMs compile, by the setting's value: for a quick start, or with the defaults. The quick compiler lacks fast
 * ciphers, so that it sends data over TLS at a tenth of the speed.
 */
const COMPILERS = { quick: ["-XX:TieredStopAtLevel=1"], full: [] };

/**
 * The command that starts a daemon. @param {ClusterRecord} cluster @param {Daemon} daemon @param {string[]} flags Java
 * flags, unless it is the KDC
 */
export function daemonCommand(cluster, daemon, flags) {
  return daemon.kind === "KDC"
    ? kdcCommand(cluster, markersOf(cluster.state, daemon.name))
    : javaCommand(cluster, daemon, flags);
}

/**
 * The command of a daemon's JVM.
 * @param {ClusterRecord} cluster
 * @param {Pick<Daemon, "name" | "mainClass" | "programArguments" | "flags" | "heapMiB" | "classPath">} daemon
 * @param {string[]} [flags] of Java
 */
export function javaCommand(cluster, daemon, flags = []) {
  const { mainClass } = daemon;
  if (mainClass === undefined) throw new Error(`${daemon.name} is no program of Java`);
  return {
    command: join(cluster.javaHome, "bin", "java"),
    args: [
      ...markersOf(cluster.state, daemon.name),
      `-Xmx${daemon.heapMiB}m`,
      ...JVM_FLAGS,
      ...COMPILERS[cluster.settings.compiler],
      ...flags,
      ...(daemon.flags ?? []),
      // Names are resolved by this file alone, so that addresses stay addresses regardless of the machine's own files.
      `-Djdk.net.hosts.file=${layout(cluster.state).hosts}`,
      `-Djava.io.tmpdir=${layout(cluster.state).temporary}`,
      ...(cluster.settings.secure ? [`-Djava.security.krb5.conf=${layout(cluster.state).secure.krb5Conf}`] : []),
      `-Dhadoop.home.dir=${cluster.state}`,
      mainClass,
      ...(daemon.programArguments ?? []),
    ],
    /**
     * Nothing is inherited from the caller's environment: a developer's settings must not change what containers see.
     * HADOOP_CONF_DIR is missing too, because NodeManagers would pass it on: a job must bring what it needs.
     */
    environment: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      LANG: "C.UTF-8",
      JAVA_HOME: cluster.javaHome,
      CLASSPATH: daemon.classPath.join(":"),
    },
  };
}
