// @ts-nocheck
import { layout } from "../folders.mjs";
import { eachMaster, NAME_SERVICE } from "../high-availability.mjs";
import { domainOf } from "./host-names.mjs";
import { KMS_PORT, PROXY_SERVICE, REALM, WEB_KEYTAB } from "./names.mjs";
import { keytabOf } from "./realm.mjs";

/**
 * Hadoop's keys of a secure cluster. Daemons are called hdfs/HOST and yarn/HOST and their web servers HTTP/HOST, so that the default rule of
 * `hadoop.security.auth_to_local` makes the users hdfs and yarn of them.
 * @param {import("../record.mjs").ClusterRecord} cluster
 * @returns {Record<string, string>} none on an open cluster
 */
export function securityProperties(cluster) {
  const { secure, protection, tokenLifetimeS } = cluster.settings;
  if (!secure) return {};
  return {
    "hadoop.security.authentication": "kerberos",
    "hadoop.security.authorization": "true",
    "hadoop.rpc.protection": protection,
    [`hadoop.proxyuser.${PROXY_SERVICE}.hosts`]: "*",
    [`hadoop.proxyuser.${PROXY_SERVICE}.groups`]: "*",
    ...webProperties(cluster),
    ...hdfsProperties(cluster, protection),
    ...yarnProperties(cluster),
    ...timelineProperties(cluster),
    ...(tokenLifetimeS === 0 ? {} : tokenLifetimes(tokenLifetimeS)),
  };
}

const anyHost = (service) => `${service}/_HOST@${REALM}`;

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

function hdfsProperties(cluster, protection) {
  const { master } = cluster.addresses;
  const keytab = keytabOf(cluster, "hdfs");
  return {
    "dfs.http.policy": "HTTPS_ONLY",
    "dfs.namenode.https-address": `${master}:9871`,
    "dfs.datanode.https.address": `${master}:9865`,
    "dfs.block.access.token.enable": "true",
    // With it a DataNode needs no privileged port.
    "dfs.data.transfer.protection": protection,
    // With privacy; by default data is encrypted by triple DES, which Java does at a few MB a second.
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

function yarnProperties(cluster) {
  const keytab = keytabOf(cluster, "yarn");
  const webKeytab = keytabOf(cluster, WEB_KEYTAB);
  return {
    "yarn.http.policy": "HTTPS_ONLY",
    "yarn.acl.enable": "true",
    "yarn.admin.acl": "yarn",
    "yarn.scheduler.capacity.root.acl_administer_queue": "yarn",
    "yarn.resourcemanager.principal": anyHost("yarn"),
    "yarn.resourcemanager.keytab": keytab,
    "yarn.resourcemanager.webapp.spnego-principal": anyHost("HTTP"),
    "yarn.resourcemanager.webapp.spnego-keytab-file": webKeytab,
    // The ResourceManager looks where a NodeManager calls from, which on one machine is the ResourceManager's own address: all have one principal.
    "yarn.nodemanager.principal": `yarn/${cluster.addresses.master}@${REALM}`,
    "yarn.nodemanager.keytab": keytab,
    "yarn.nodemanager.webapp.spnego-keytab-file": webKeytab,
  };
}

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
 * What one NodeManager has beside these. It takes this machine's name for `_HOST`, and that is the master's.
 * @param {import("../record.mjs").ClusterRecord} cluster
 * @param {string} host
 */
export function nodeSecurityProperties({ settings: { secure } }, host) {
  if (!secure) return {};
  return {
    "yarn.nodemanager.webapp.spnego-principal": `HTTP/${host}@${REALM}`,
    "yarn.nodemanager.webapp.https.address": `${host}:8044`,
  };
}

/** Delegation tokens of that life, which have to be renewed after half of it. */
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

/** The same of the KMS, which counts seconds. @param {import("../record.mjs").Settings} settings */
export function kmsTokenLifetimes({ tokenLifetimeS }) {
  if (tokenLifetimeS === 0) return {};
  const token = "hadoop.kms.authentication.delegation-token";
  return {
    [`${token}.max-lifetime.sec`]: String(tokenLifetimeS),
    [`${token}.renew-interval.sec`]: String(Math.ceil(tokenLifetimeS / 2)),
    [`${token}.update-interval.sec`]: String(tokenLifetimeS),
  };
}
