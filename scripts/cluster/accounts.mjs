import { execFile } from "node:child_process";
import { userInfo } from "node:os";
import { promisify } from "node:util";
import { Problem, printedBy } from "../problem.mjs";

const run = promisify(execFile);

/**
 * An operating system user that daemons run as.
 * @typedef {{ name: string, uid: number, gid: number }} Account
 */

/**
 * The users of the daemons: hdfs for HDFS and yarn for YARN when root starts the cluster (made if absent), as sites have
 * them, so that permissions bite as they do there. Anybody else can only run all daemons as himself.
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
    // Another `up` may have made it between our look and our try.
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
