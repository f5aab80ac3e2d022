import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const CHECKOUT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const HADOOP_FILES = join(CHECKOUT, "docker", "hadoop");

/**
 * Where jars and address claims are kept for all checkouts of this user: `$XDG_CACHE_HOME/tony-ts`, or `~/.cache/tony-ts`.
 * For root it is /var/cache/tony-ts: the daemons then run as other users, who can seldom enter root's home.
 */
export function cacheFolder() {
  const preferred = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "tony-ts");
  return mayEnter(preferred) ? preferred : "/var/cache/tony-ts";
}

/**
 * The folder with everything that belongs to a cluster: `$TONY_CLUSTER_DIR/<name>`, else `.cluster/<name>` of this
 * checkout. Where the daemons' users could not enter the checkout, it is a folder for this checkout under /var/tmp.
 * @param {string} name
 */
export function stateFolder(name) {
  if (process.env.TONY_CLUSTER_DIR) return resolve(process.env.TONY_CLUSTER_DIR, name);
  if (mayEnter(CHECKOUT)) return join(CHECKOUT, ".cluster", name);
  const checkoutId = createHash("sha256").update(CHECKOUT).digest("hex").slice(0, 8);
  return join("/var/tmp", `tony-ts-cluster-${process.getuid?.()}`, checkoutId, name);
}

/**
 * Whether the daemons' users can reach this path: every folder above must let others pass. Without root, they are the
 * current user, who can.
 * @param {string} path it need not exist yet
 */
export function mayEnter(path) {
  if (process.getuid?.() !== 0) return true;
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return false;
    if (folder === "/") return true;
  }
}

/** Further paths of a secure cluster. @param {string} folder */
function secureLayout(folder) {
  const kdc = join(folder, "kdc");
  const tls = join(folder, "tls");
  return {
    folder,
    /** For KRB5_CONFIG. */
    krb5Conf: join(folder, "krb5.conf"),
    kdc,
    kdcConf: join(folder, "kdc.conf"),
    keytabs: join(folder, "keytabs"),
    tickets: join(folder, "tickets"),
    tls,
    certificateAuthority: join(tls, "ca.pem"),
    keyStore: join(tls, "keystore.p12"),
    /** The secret with which the daemons sign the cookies of their web logins. */
    webSecret: join(folder, "web-secret"),
    /** Settings for the daemons only. */
    daemonConf: join(folder, "daemons"),
    /** Classes that precede Hadoop's own. */
    classes: join(folder, "classes"),
  };
}

/** The paths inside a cluster's state folder. @param {string} state */
export function layout(state) {
  return {
    state,
    /** The record of the cluster: the requested settings, and the chosen addresses and users. */
    record: join(state, "cluster.json"),
    /** Exists once homes, labels and nodes do: running daemons alone are not yet a cluster that accepts jobs. */
    prepared: join(state, "prepared"),
    conf: join(state, "conf"),
    hosts: join(state, "hosts"),
    /** The nodes that the ResourceManager should remove, one host per line. */
    excludedNodes: join(state, "conf", "excluded-nodes"),
    /** A daemon's own settings, on top of those in `conf`. */
    daemonConf: (/** @type {string} */ daemon) => join(state, `conf-${daemon}`),
    data: join(state, "data"),
    daemonData: (/** @type {string} */ daemon) => join(state, "data", daemon),
    logs: join(state, "logs"),
    pids: join(state, "pids"),
    bin: join(state, "bin"),
    temporary: join(state, "tmp"),
    webapps: join(state, "webapps"),
    secure: secureLayout(join(state, "secure")),
  };
}
