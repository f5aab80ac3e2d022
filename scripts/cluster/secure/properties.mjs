import { layout } from "../folders.mjs";
import { eachMaster, NAME_SERVICE } from "../high-availability.mjs";
import { domainOf } from "./host-names.mjs";
import { CALLED, KMS_PORT, PROXY_SERVICE, REALM, WEB_KEYTAB } from "./names.mjs";
import { keytabOf, principalIn } from "./realm.mjs";

/** @import { ClusterRecord } from "../record.mjs" */

/** The ResourceManager obtains the NameNode's tokens for jobs whose clients can only reach an HttpFS. */
const OBTAINED_TOKENS = {
  "yarn.resourcemanager.proxy-user-privileges.enabled": "true",
  "hadoop.proxyuser.yarn.hosts": "*",
  "hadoop.proxyuser.yarn.groups": "*",
};

/**
 * Hadoop's keys for a secure cluster. The principals of daemons are hdfs/HOST and yarn/HOST, those of their web servers HTTP/HOST, so that
 * the default rule of `hadoop.security.auth_to_local` maps them to the users hdfs and yarn; the rules before it are for tests.
 * @param {ClusterRecord} cluster
 * @returns {Record<string, string>} none on an open cluster
 */
export function securityProperties(cluster) {
  const { secure, protection, tokenLifetimeS, httpfs } = cluster.settings;
  if (!secure) return {};
  return {
    "hadoop.security.authentication": "kerberos",
    "hadoop.security.authorization": "true",
    "hadoop.security.auth_to_local": [...Object.entries(CALLED).map(renaming), "DEFAULT"].join("\n"),
    "hadoop.rpc.protection": protection,
    [`hadoop.proxyuser.${PROXY_SERVICE}.hosts`]: "*",
    [`hadoop.proxyuser.${PROXY_SERVICE}.groups`]: "*",
    ...webProperties(cluster),
    ...hdfsProperties(cluster, protection),
    ...yarnProperties(cluster),
    ...timelineProperties(cluster),
    ...(httpfs ? OBTAINED_TOKENS : {}),
    ...(tokenLifetimeS === 0 ? {} : tokenLifetimes(tokenLifetimeS)),
  };
}

/** @param {[string, string]} called */
const renaming = ([keytab, name]) => `RULE:[2:$1/$2](${principalIn(keytab)})s/.*/${name}/`;

/** @param {string} service */
const anyHost = (service) => `${service}/_HOST@${REALM}`;

/** @param {ClusterRecord} cluster */
function webProperties(cluster) {
  const { state, network } = cluster;
  const authentication = "hadoop.http.authentication";
  return {
    "hadoop.http.filter.initializers": "org.apache.hadoop.security.AuthenticationFilterInitializer",
    [`${authentication}.type`]: "kerberos",
    [`${authentication}.kerberos.principal`]: anyHost("HTTP"),
    [`${authentication}.kerberos.keytab`]: keytabOf(cluster, WEB_KEYTAB),
    [`${authentication}.signature.secret.file`]: layout(state).secure.webSecret,
    [`${authentication}.cookie.domain`]: domainOf(network),
    "hadoop.ssl.keystores.factory.class": "org.apache.hadoop.security.ssl.FileBasedKeyStoresFactory",
  };
}

/** @param {ClusterRecord} cluster @param {string} protection */
function hdfsProperties(cluster, protection) {
  const { master } = cluster.addresses;
  const keytab = keytabOf(cluster, "hdfs");
  return {
    "dfs.http.policy": "HTTPS_ONLY",
    "dfs.namenode.https-address": `${master}:9871`,
    "dfs.datanode.https.address": `${master}:9865`,
    "dfs.block.access.token.enable": "true",
    // With this setting a DataNode needs no privileged port.
    "dfs.data.transfer.protection": protection,
    // For privacy; by default data is encrypted with triple DES, which Java does at a few MB per second.
    "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding",
    "dfs.namenode.kerberos.principal": anyHost("hdfs"),
    "dfs.namenode.keytab.file": keytab,
    "dfs.namenode.kerberos.internal.spnego.principal": anyHost("HTTP"),
    "dfs.datanode.kerberos.principal": anyHost("hdfs"),
    "dfs.datanode.keytab.file": keytab,
    "dfs.journalnode.kerberos.principal": anyHost("hdfs"),
    "dfs.journalnode.keytab.file": keytab,
    "dfs.journalnode.kerberos.internal.spnego.principal": anyHost("HTTP"),
    "dfs.journalnode.https-address": `${master}:8481`,
    "dfs.web.authentication.kerberos.principal": anyHost("HTTP"),
    "dfs.web.authentication.kerberos.keytab": keytabOf(cluster, WEB_KEYTAB),
    "hadoop.security.key.provider.path": `kms://https@${master}:${KMS_PORT}/kms`,
    ...Object.fromEntries(
      eachMaster(cluster).map(({ host, nameNode }) => [
        `dfs.namenode.https-address.${NAME_SERVICE}.${nameNode}`,
        `${host}:9871`,
      ]),
    ),
  };
}

/** @param {ClusterRecord} cluster */
function yarnProperties(cluster) {
  const keytab = keytabOf(cluster, "yarn");
  const webKeytab = keytabOf(cluster, WEB_KEYTAB);
  return {
    "yarn.http.policy": "HTTPS_ONLY",
    // The proxy fetches the pages of ApplicationMasters by HTTPS if they serve it, and shows them its own certificate.
    "yarn.resourcemanager.application-https.policy": "LENIENT",
    "yarn.acl.enable": "true",
    "yarn.admin.acl": "yarn",
    "yarn.scheduler.capacity.root.acl_administer_queue": "yarn",
    "yarn.resourcemanager.principal": anyHost("yarn"),
    "yarn.resourcemanager.keytab": keytab,
    "yarn.resourcemanager.webapp.spnego-principal": anyHost("HTTP"),
    "yarn.resourcemanager.webapp.spnego-keytab-file": webKeytab,
    // The ResourceManager checks a NodeManager's source address, which on one machine is the ResourceManager's own: so all NodeManagers
    // have one principal.
    "yarn.nodemanager.principal": `yarn/${cluster.addresses.master}@${REALM}`,
    "yarn.nodemanager.keytab": keytab,
    "yarn.nodemanager.webapp.spnego-keytab-file": webKeytab,
  };
}

/** @param {ClusterRecord} cluster */
function timelineProperties(cluster) {
  const authentication = "yarn.timeline-service.http-authentication";
  return {
    "yarn.timeline-service.principal": anyHost("yarn"),
    "yarn.timeline-service.keytab": keytabOf(cluster, "yarn"),
    [`${authentication}.type`]: "kerberos",
    [`${authentication}.kerberos.principal`]: anyHost("HTTP"),
    [`${authentication}.kerberos.keytab`]: keytabOf(cluster, WEB_KEYTAB),
  };
}

/**
 * Further keys for one NodeManager. It would use this machine's name for `_HOST`, and that is the master's.
 * @param {ClusterRecord} cluster
 * @param {string} host
 */
export function nodeSecurityProperties({ settings: { secure } }, host) {
  if (!secure) return {};
  return {
    "yarn.nodemanager.webapp.spnego-principal": `HTTP/${host}@${REALM}`,
    "yarn.nodemanager.webapp.https.address": `${host}:8044`,
  };
}

/** Delegation tokens with this lifetime, which have to be renewed after half of it. @param {number} seconds */
function tokenLifetimes(seconds) {
  const maxLifetime = String(seconds * 1000);
  const renewInterval = String(seconds * 500);
  return Object.fromEntries(
    ["dfs.namenode.delegation", "yarn.resourcemanager.delegation"].flatMap((service) => [
      [`${service}.token.max-lifetime`, maxLifetime],
      [`${service}.token.renew-interval`, renewInterval],
      [`${service}.key.update-interval`, maxLifetime],
    ]),
  );
}

/** The same for the KMS, which counts in seconds. @param {import("../record.mjs").Settings} settings */
export function kmsTokenLifetimes({ tokenLifetimeS }) {
  if (tokenLifetimeS === 0) return {};
  const token = "hadoop.kms.authentication.delegation-token";
  return {
    [`${token}.max-lifetime.sec`]: String(tokenLifetimeS),
    [`${token}.renew-interval.sec`]: String(Math.ceil(tokenLifetimeS / 2)),
    [`${token}.update-interval.sec`]: String(tokenLifetimeS),
  };
}

/** For HttpFS: how its clients authenticate, and how it authenticates to HDFS. @param {ClusterRecord} cluster @returns {Record<string, string>} */
export function httpFsProperties(cluster) {
  if (!cluster.settings.secure) return {};
  return {
    "httpfs.ssl.enabled": "true",
    "httpfs.authentication.type": "kerberos",
    "httpfs.hadoop.authentication.type": "kerberos",
    "httpfs.hadoop.authentication.kerberos.principal": `hdfs/${cluster.addresses.master}@${REALM}`,
    "httpfs.hadoop.authentication.kerberos.keytab": keytabOf(cluster, "hdfs"),
    "hadoop.http.authentication.kerberos.principal": `HTTP/${cluster.addresses.master}@${REALM}`,
    "hadoop.http.authentication.kerberos.keytab": keytabOf(cluster, WEB_KEYTAB),
  };
}
