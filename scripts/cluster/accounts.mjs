import { execFile } from "node:child_process";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import { Problem, printedBy } from "../problem.mjs";

const run = promisify(execFile);

/**
 * An operating system user for daemons.
 * @typedef {{ name: string, uid: number, gid: number }} Account
 */

/**
 * The users of the daemons: hdfs for HDFS and yarn for YARN when root starts the cluster (created if absent), as on real
 * sites, so that permissions have the same effects. Any other user can only run all daemons under their own account.
 * @returns {Promise<{ hdfs: Account, yarn: Account }>}
 */
export async function daemonAccounts() {
  if (process.getuid?.() !== 0) {
    const { username, uid, gid } = userInfo();
    const self = { name: username, uid, gid };
    return { hdfs: self, yarn: self };
  }
  return { hdfs: await systemAccount("hdfs"), yarn: await systemAccount("yarn") };
}

/** @param {string} name @returns {Promise<Account>} */
async function systemAccount(name) {
  const existing = await findAccount(name);
  if (existing !== undefined) return existing;
  try {
    await run("useradd", ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin", name]);
  } catch (cause) {
    // Another `up` may have created it between the lookup and this attempt.
    const made = await findAccount(name);
    if (made !== undefined) return made;
    throw new Problem(`The user ${name} is absent and useradd could not make it: ${printedBy(cause).trim()}`, {
      cause,
    });
  }
  const made = await findAccount(name);
  if (made === undefined) throw new Problem(`useradd made the user ${name}, but getent does not show it.`);
  return made;
}

/** @param {string} name @returns {Promise<Account | undefined>} */
async function findAccount(name) {
  const entry = await run("getent", ["passwd", name]).catch(() => undefined);
  if (entry === undefined) return undefined;
  const [, , uid, gid] = entry.stdout.split(":");
  return { name, uid: Number(uid), gid: Number(gid) };
}
