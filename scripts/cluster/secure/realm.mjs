import { execFile, spawn } from "node:child_process";
import { chmod, chown, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { Problem, printedBy } from "../../problem.mjs";
import { layout } from "../folders.mjs";
import { eachHost } from "./host-names.mjs";
import { CALLED, PEOPLE, PROXY_SERVICE, REALM, WEB_KEYTAB } from "./names.mjs";

/** @import { ClusterRecord } from "../record.mjs" */

const run = promisify(execFile);

/** The Kerberos realm of a secure cluster: its own KDC with its principals, and a keytab for each principal that logs in without a password. */

/**
 * The content of each keytab; `hdfs` and `yarn` without a host are the administrators of the two systems, with a host they
 * are daemons.
 * @param {Pick<ClusterRecord, "addresses" | "submitter">} cluster
 * @returns {Record<string, string[]>} principals without their realm, by the keytab's name
 */
export function principalsOf({ addresses, submitter }) {
  const hosts = eachHost(addresses);
  const onEachHost = (/** @type {string} */ service) => hosts.map((host) => `${service}/${host}`);
  const people = [...new Set([...PEOPLE, submitter])];
  return {
    hdfs: ["hdfs", ...onEachHost("hdfs")],
    yarn: ["yarn", ...onEachHost("yarn")],
    [WEB_KEYTAB]: onEachHost("HTTP"),
    [PROXY_SERVICE]: [`${PROXY_SERVICE}/${addresses.master}`],
    ...Object.fromEntries([...people, ...Object.keys(CALLED)].map((name) => [name, [principalIn(name)]])),
  };
}

/** The principal in a person's keytab. @param {string} keytab */
export const principalIn = (keytab) => (keytab in CALLED ? keytab.replace("-", "/") : keytab);

/** @param {{ state: string }} cluster @param {string} name */
export const keytabOf = ({ state }, name) => join(layout(state).secure.keytabs, `${name}.keytab`);

/**
 * Makes a new realm: its database, every principal with a random key, the keytabs. Its configuration already exists.
 * @param {ClusterRecord} cluster
 */
export async function makeRealm(cluster) {
  const { kdc, keytabs, tickets } = layout(cluster.state).secure;
  for (const folder of [keytabs, tickets]) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
  }
  await rm(join(kdc, "database"), { recursive: true, force: true });
  await mkdir(join(kdc, "database"), { recursive: true, mode: 0o700 });
  // The master key is kept in a file next to the database; nobody needs its password.
  await run("kdb5_util", ["-r", REALM, "create", "-s", "-P", "unused"], { env: kerberosEnvironment(cluster) });
  const commands = Object.entries(principalsOf(cluster)).flatMap(([name, principals]) => [
    ...principals.map((principal) => `add_principal -randkey ${principal}`),
    `ktadd -k ${keytabOf(cluster, name)} ${principals.join(" ")}`,
  ]);
  await administer(cluster, commands);
  const { hdfs, yarn } = cluster.users;
  await chown(keytabOf(cluster, "hdfs"), hdfs.uid, hdfs.gid);
  await chown(keytabOf(cluster, "yarn"), yarn.uid, yarn.gid);
  await shareBetweenDaemons(cluster, keytabOf(cluster, WEB_KEYTAB));
}

/** Makes a file readable for the daemons of both users, and nobody else. @param {Pick<ClusterRecord, "users">} cluster @param {string} path */
export async function shareBetweenDaemons({ users: { hdfs, yarn } }, path) {
  await chown(path, hdfs.uid, yarn.gid);
  await chmod(path, 0o440);
}

/**
 * kadmin.local continues after a failed command, and reports the failure only on the other stream.
 * @param {ClusterRecord} cluster @param {string[]} commands @returns {Promise<void>}
 */
function administer(cluster, commands) {
  return new Promise((resolve, reject) => {
    const child = spawn("kadmin.local", ["-r", REALM], { env: kerberosEnvironment(cluster) });
    let complaints = "";
    child.stdout.resume();
    child.stderr.setEncoding("utf8").on("data", (text) => {
      complaints += text;
    });
    child.on("error", reject);
    child.on("close", () => {
      const problems = complaints.split("\n").filter((line) => line !== "" && !line.startsWith("No policy specified"));
      if (problems.length === 0) resolve();
      else reject(new Problem(`kadmin.local failed:\n${problems.slice(0, 5).join("\n")}`));
    });
    child.stdin.end(`${commands.join("\n")}\n`);
  });
}

/**
 * A fresh ticket for a user, from the keytab.
 * @param {ClusterRecord} cluster its KDC must be running
 * @param {string} name of a keytab
 * @param {{ lifetimeS?: number | undefined, owner?: import("../accounts.mjs").Account }} [options] `owner`: the owner of the
 * cache's file
 * @returns {Promise<string>} the cache, for KRB5CCNAME
 */
export async function takeTicket(cluster, name, { lifetimeS, owner } = {}) {
  const [principal] = principalsOf(cluster)[name] ?? [];
  if (principal === undefined) {
    const names = Object.keys(principalsOf(cluster)).filter((keytab) => keytab !== WEB_KEYTAB);
    throw new Problem(`No user ${name}: there are ${names.join(", ")}`, { exitCode: 2 });
  }
  const file = join(layout(cluster.state).secure.tickets, name);
  const lifetime = lifetimeS === undefined ? [] : ["-l", `${lifetimeS}s`];
  const args = ["-k", "-t", keytabOf(cluster, name), "-c", `FILE:${file}`, ...lifetime, principal];
  try {
    await run("kinit", args, { env: kerberosEnvironment(cluster) });
  } catch (cause) {
    throw new Problem(`kinit ${principal} failed: ${printedBy(cause).trim()}`, { cause });
  }
  if (owner !== undefined) await chown(file, owner.uid, owner.gid);
  return `FILE:${file}`;
}

/**
 * The command of the KDC. It ignores the markers after `--`.
 * @param {ClusterRecord} cluster @param {string[]} markers
 */
export function kdcCommand(cluster, markers) {
  return { command: "krb5kdc", args: ["-n", "-r", REALM, "--", ...markers], environment: kerberosEnvironment(cluster) };
}

/** The environment for Kerberos programs: the cluster's realm instead of the machine's. @param {{ state: string }} cluster */
export function kerberosEnvironment({ state }) {
  const { krb5Conf, kdcConf } = layout(state).secure;
  return { ...process.env, KRB5_CONFIG: krb5Conf, KRB5_KDC_PROFILE: kdcConf };
}
