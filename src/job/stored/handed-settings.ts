import { authToLocalKey, authToLocalMechanismKey } from "../../hadoop/security/kerberos/local-name.ts";
import { securityKeys } from "../../hadoop/security/security-keys.ts";

/** How often a node sends a heartbeat to the ResourceManager. */
export const nodeHeartbeatKey = "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms";

/** How long the ResourceManager waits for a silent ApplicationMaster before it starts the next attempt. */
export const masterExpiryKey = "yarn.am.liveness-monitor.expiry-interval-ms";

/** Its realm is that of the cluster's users. */
export const resourceManagerPrincipalKey = "yarn.resourcemanager.principal";

/** How viewers of the web pages of Hadoop's servers authenticate: `simple`, Hadoop's default, or `kerberos`. */
export const webLoginKey = "hadoop.http.authentication.type";

const masterKeys: readonly string[] = [
  nodeHeartbeatKey,
  masterExpiryKey,
  resourceManagerPrincipalKey,
  authToLocalKey,
  authToLocalMechanismKey,
  webLoginKey,
];

const schedulerKey = /^yarn\.resourcemanager\.(?:hostname|address|scheduler\.address|ha\.enabled|ha\.rm-ids)(?:\.|$)/;

type Properties = Readonly<Record<string, string>>;

/** The properties of a site's Hadoop configuration that the ApplicationMaster reads. Everything else, passwords included, is not sent. */
export function handedToMaster(properties: Properties): Record<string, string> {
  return chosen(properties, (key) => isForExecutors(key) || schedulerKey.test(key) || masterKeys.includes(key));
}

/** Servers and principals, key servers, and the lifetimes of tokens. */
const loginKey =
  /^(?:yarn\.resourcemanager\.(?:principal|address|hostname|ha\.enabled|ha\.rm-ids|delegation\.token)|dfs\.namenode\.(?:kerberos\.principal|delegation\.token)|hadoop\.security\.(?:key\.provider\.path|token\.service\.use_ip|auth_to_local)|mapreduce\.job\.hdfs-servers\.token-renewal\.exclude)(?:\.|-|$)/;

/** Further properties for the process that logs in with a keytab and obtains delegation tokens. */
export function handedToLogin(properties: Properties): Record<string, string> {
  return chosen(properties, (key) => loginKey.test(key));
}

/** The properties that executors read: where file systems are, and how to authenticate to them. A container's environment is small. */
export function handedToExecutors(properties: Properties): Record<string, string> {
  return chosen(properties, isForExecutors);
}

function isForExecutors(key: string): boolean {
  return fileSystemKey.test(key) || securityKeys.includes(key);
}

function chosen(properties: Properties, isChosen: (key: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => isChosen(key)));
}

/** The properties that say where file systems are: those that FileSystems reads to locate a path. */
export const fileSystemKey =
  /^(fs\.(defaultFS$|viewfs\.)|dfs\.(nameservices$|http\.policy$|ha\.namenodes\.|namenode\.(rpc|http|https)-address))/;
