import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { HADOOP_FILES, layout } from "./folders.mjs";
import { defaultFileSystem, eachMaster, highAvailabilityProperties } from "./high-availability.mjs";
import { addresses } from "./network.mjs";
import { STORE_PASSWORD } from "./secure/certificates.mjs";
import { domainOf, hostEntries } from "./secure/host-names.mjs";
import { KDC_PORT, KMS_PORT, PEOPLE, PROXY_SERVICE, REALM, WEB_KEYTAB, ZONE } from "./secure/names.mjs";
import {
  httpFsProperties,
  kmsTokenLifetimes,
  nodeSecurityProperties,
  securityProperties,
} from "./secure/properties.mjs";
import { keytabOf } from "./secure/realm.mjs";

/** @import { ClusterRecord, Settings } from "./record.mjs" */

const TEMPLATES = join(HADOOP_FILES, "conf");

/** `--set yarn.resource-types=…` replaces it by another name: sites call GPUs `nvidia.com/gpu`, or count MIG profiles. */
const GPU_TYPE = "yarn.io/gpu";

/** The classes of `--calculator` and `--scheduler`, in the packages that the templates name. */
const CALCULATORS = { dominant: "DominantResourceCalculator", default: "DefaultResourceCalculator" };
const SCHEDULERS = { capacity: "capacity.CapacityScheduler", fair: "fair.FairScheduler" };

/** The settings that `--scheduling` adds to the capacity scheduler, which by default places containers on a node at its heartbeat. */
const SORTING = "yarn.scheduler.capacity.multi-node-sorting.policy";
/** @type {Record<Settings["scheduling"], Record<string, string>>} */
const SCHEDULING = {
  heartbeat: {},
  async: { "yarn.scheduler.capacity.schedule-asynchronously.enable": "true" },
  "multi-node": {
    "yarn.scheduler.capacity.multi-node-placement-enabled": "true",
    [SORTING]: "usage",
    [`${SORTING}.names`]: "usage",
    [`${SORTING}.usage.class`]:
      "org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.ResourceUsageMultiNodeLookupPolicy",
  },
};

/** The settings of `--preemption`: the two queues take back what the other has borrowed. */
const PREEMPTION = {
  "yarn.resourcemanager.scheduler.monitor.enable": "true",
  "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval": "1000",
  "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill": "5000",
  "yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round": "1.0",
  "yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor": "1.0",
};

/**
 * Writes the configuration folders of a cluster from the templates under docker/hadoop/conf: one for the masters and
 * all clients, and a small one for each daemon that has settings of its own.
 * @param {ClusterRecord} cluster
 */
export async function writeSiteFiles(cluster) {
  const { state, settings, addresses } = cluster;
  const { conf, data, hosts, excludedNodes, daemonConf, daemonData, webapps } = layout(state);
  /** @type {Placeholders} */
  const values = {
    DEFAULT_FS: defaultFileSystem(cluster),
    MASTER: addresses.master,
    DATANODE: addresses.master,
    DATA: data,
    CONF: conf,
    JARS: cluster.jars,
    GROUPS: groupMapping(cluster),
    NM_HEARTBEAT_MS: String(settings.nmHeartbeatMs),
    RESOURCE_TYPES: resourceTypes(settings).join(","),
    CALCULATOR: CALCULATORS[settings.calculator],
    SCHEDULER: SCHEDULERS[settings.scheduler],
    EXCLUDED_NODES: excludedNodes,
    ...extraProperties(cluster),
  };
  await renderFolder("", conf, values);
  // The capacity scheduler rounds a queue's use up to whole units of every resource: with two GPUs, one would count as
  // used by a queue that uses none, half of all, and a queue so far above its share gets nothing back by preemption
  // (UsersManager.computeUserLimit, which bounds the pending requests that the preemption policy sees).
  const gpus = settings.preemption ? "0" : "2";
  for (const [index, address] of addresses.nodes.entries()) {
    const node = nodeName(index);
    await renderFolder("nodemanager", daemonConf(node), {
      ...values,
      NODE: address,
      NODE_DATA: daemonData(node),
      NODE_RESOURCES: resourceTypes(settings)
        .map((type) => property(`yarn.nodemanager.resource-type.${type}`, index === GPU_NODE ? gpus : "0"))
        .join(""),
      NODE_SITE: propertyLines(nodeSecurityProperties(cluster, address)),
    });
  }
  for (const { nameNode, resourceManager } of eachMaster(cluster)) {
    await renderFolder("namenode", daemonConf(nameNode), { ...values, DAEMON: nameNode });
    await renderFolder("resourcemanager", daemonConf(resourceManager), { ...values, DAEMON: resourceManager });
  }
  if (settings.httpfs)
    await renderFolder("httpfs", daemonConf("httpfs"), {
      ...values,
      HTTPFS_SITE: propertyLines(httpFsProperties(cluster)),
    });
  if (settings.router) await renderFolder("router", daemonConf("router"), values);
  if (settings.ha) await renderFolder("zookeeper", daemonConf("zookeeper"), values);
  if (settings.secure) await renderSecurity(cluster, values);
  await writeFile(excludedNodes, "");
  await writeFile(hosts, hostsFile(cluster));
  await cp(join(HADOOP_FILES, "webapps"), webapps, { recursive: true });
}

/**
 * The further files that a secure cluster's clients, daemons, KDC and KMS read.
 * @param {ClusterRecord} cluster @param {Placeholders} common
 */
async function renderSecurity(cluster, common) {
  const { conf, daemonConf, secure } = layout(cluster.state);
  const values = {
    ...common,
    REALM,
    KDC: secure.kdc,
    KDC_ADDRESS: addresses(cluster.network, 0).master,
    KDC_PORT: String(KDC_PORT),
    DOMAIN: domainOf(cluster.network),
    TICKETS: secure.tickets,
    TLS: secure.tls,
    STORE_PASSWORD,
    KMS_PORT: String(KMS_PORT),
    HTTP_KEYTAB: keytabOf(cluster, WEB_KEYTAB),
    WEB_SECRET: secure.webSecret,
    PROXY_SERVICE,
    ZONE_KEY: ZONE.key,
    ZONE_OWNER: ZONE.owner,
    KMS_SITE: propertyLines(kmsTokenLifetimes(cluster.settings)),
  };
  await renderFolder("secure", conf, values);
  await renderFolder("secure-daemons", secure.daemonConf, values);
  await renderFolder("kerberos", secure.folder, values);
  await renderFolder("kms", daemonConf("kms"), values);
}

/**
 * The file by which the daemons' JVMs resolve names. On an open cluster every address is its own name: otherwise nodes would register
 * under names in this machine's /etc/hosts; this host is the master, because Hadoop replaces a loopback address in the URLs that it
 * shows people by the local host's name.
 * @param {ClusterRecord} cluster
 */
function hostsFile(cluster) {
  const [master, ...others] = hostEntries(cluster).map(({ address, name }) => `${address} ${name}`);
  const lines = [`${master} ${hostname()}`, ...others];
  // If the master is 127.0.0.1, the first line defines the name of that address.
  return [...lines, "127.0.0.1 localhost", ""].join("\n");
}

/** A ResourceManager that only counts memory does not start with other resource types. @param {Settings} settings */
const countsEverything = ({ calculator }) => calculator === "dominant";

/** @param {Settings} settings */
function resourceTypes(settings) {
  return countsEverything(settings) ? (settings.properties["yarn.resource-types"] ?? GPU_TYPE).split(",") : [];
}

/** The second node has the GPUs and the label. */
export const GPU_NODE = 1;

/** @param {number} index from 0 @returns {string} nm1, nm2, … */
export const nodeName = (index) => `nm${index + 1}`;

/**
 * Renders the templates directly in a folder, `""` for the common one.
 * @param {string} templates @param {string} folder @param {Placeholders} values
 */
async function renderFolder(templates, folder, values) {
  for (const file of await readdir(join(TEMPLATES, templates), { withFileTypes: true })) {
    if (file.isFile()) await render(join(TEMPLATES, templates, file.name), folder, values);
  }
}

/**
 * Fills the placeholders `@NAME@` of one template; one without a value is a defect of the template.
 * @typedef {Record<string, string>} Placeholders by name
 * @param {string} template @param {string} folder @param {Placeholders} values
 */
async function render(template, folder, values) {
  const text = (await readFile(template, "utf8")).replaceAll(/@([A-Z_]+)@/g, (_, name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${template} has @${name}@, which nothing fills`);
    return value;
  });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, basename(template)), text);
}

/**
 * Puts `--set key=value` into the file from which Hadoop reads the key; later entries in a file win. @param {ClusterRecord} cluster
 * @returns {Placeholders}
 */
function extraProperties(cluster) {
  const { preemption, properties, scheduling, httpfs } = cluster.settings;
  /** @type {Record<ReturnType<typeof siteFileOf>, string[]>} */
  const files = { CORE_SITE: [], HDFS_SITE: [], YARN_SITE: [], MAPRED_SITE: [], CAPACITY_SCHEDULER: [] };
  const added = {
    ...highAvailabilityProperties(cluster),
    ...SCHEDULING[scheduling],
    ...(preemption ? PREEMPTION : {}),
    ...(httpfs ? proxyUser(cluster.users.hdfs) : {}),
    ...securityProperties(cluster),
    ...timelineProperties(cluster),
    ...properties,
  };
  for (const [key, value] of Object.entries(added)) {
    files[siteFileOf(key)].push(property(key, value));
  }
  return Object.fromEntries(Object.entries(files).map(([file, lines]) => [file, lines.join("\n  ")]));
}

/** The first version of YARN's timeline server, which loses everything when it ends. @param {ClusterRecord} cluster */
function timelineProperties({ addresses, settings }) {
  if (!settings.timeline) return {};
  return {
    "yarn.timeline-service.enabled": "true",
    "yarn.timeline-service.version": "1.0",
    "yarn.timeline-service.hostname": addresses.master,
    "yarn.timeline-service.store-class": "org.apache.hadoop.yarn.server.timeline.MemoryTimelineStore",
  };
}

/** HttpFS calls the NameNode on behalf of its clients. @param {{ name: string }} user */
const proxyUser = ({ name }) => ({ [`hadoop.proxyuser.${name}.hosts`]: "*", [`hadoop.proxyuser.${name}.groups`]: "*" });

/** @param {Record<string, string>} properties */
const propertyLines = (properties) =>
  Object.entries(properties)
    .map(([name, value]) => property(name, value))
    .join("\n  ");

/** @param {string} name @param {string} value */
const property = (name, value) =>
  `<property><name>${escapeXml(name)}</name><value>${escapeXml(value)}</value></property>`;

/** @param {string} key */
function siteFileOf(key) {
  if (key.startsWith("dfs.")) return "HDFS_SITE";
  if (key.startsWith("yarn.scheduler.capacity.")) return "CAPACITY_SCHEDULER";
  if (key.startsWith("yarn.")) return "YARN_SITE";
  if (key.startsWith("mapreduce.")) return "MAPRED_SITE";
  return "CORE_SITE";
}

/** @param {ClusterRecord} cluster */
function groupMapping({ users, submitter }) {
  const groups = new Map([...PEOPLE, submitter].map((name) => [name, name]));
  groups.set(users.hdfs.name, `${users.hdfs.name},hadoop`).set(users.yarn.name, `${users.yarn.name},hadoop`);
  groups.set(PROXY_SERVICE, PROXY_SERVICE);
  // The user of the ResourceManager's web pages, who has no groups.
  groups.set("dr.who", "");
  return [...groups].map(([user, list]) => `${user}=${list}`).join(";");
}

/** @param {string} text */
const escapeXml = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
