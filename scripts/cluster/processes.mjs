import { spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { open, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../problem.mjs";
import { classArchiveFlag } from "./class-archive.mjs";
import { daemonCommand, markersOf } from "./daemons.mjs";
import { layout } from "./folders.mjs";
import { commandIn } from "./isolation.mjs";

/** @import { Daemon } from "./daemons.mjs" */
/** @import { ClusterRecord } from "./record.mjs" */

/** Marks where the current life of a daemon begins in its log. */
export const START_LINE = "--- started by scripts/cluster ---\n";

/**
 * Starts a daemon as a detached process, appends its output to its log, and records its pid.
 * @param {ClusterRecord} cluster
 * @param {Daemon} daemon
 * @returns {Promise<number>} pid
 */
export async function startDaemon(cluster, daemon) {
  const { environment, ...program } = daemonCommand(cluster, daemon, [classArchiveFlag(cluster, daemon.name)]);
  const { namespace, user } = daemon;
  const { command, args } =
    namespace === undefined ? program : commandIn(namespace, user, program.command, program.args);
  const log = openSync(logFile(cluster, daemon), "a");
  writeSync(log, START_LINE);
  // Node's uid option also drops root's supplementary groups.
  const { uid, gid } = user;
  const identity = process.getuid?.() === 0 && namespace === undefined ? { uid, gid } : {};
  const child = spawn(command, args, {
    cwd: cluster.state,
    env: environment,
    detached: true,
    stdio: ["ignore", log, log],
    ...identity,
  });
  closeSync(log);
  await new Promise((resolve, reject) => child.once("spawn", resolve).once("error", reject));
  child.unref();
  if (child.pid === undefined) throw new Error(`${daemon.title} was started and has no pid`);
  await writeFile(pidFile(cluster, daemon), `${child.pid}\n`);
  return child.pid;
}

/** @param {ClusterRecord} cluster @param {{ name: string }} daemon */
export const logFile = (cluster, daemon) => join(layout(cluster.state).logs, `${daemon.name}.log`);

const LOG_END_BYTES = 65_536;

/** The end of a daemon's log; empty while it has none. @param {ClusterRecord} cluster @param {Daemon} daemon @returns {Promise<string>} */
export async function endOfLog(cluster, daemon) {
  try {
    const log = await open(logFile(cluster, daemon));
    try {
      const start = Math.max(0, (await log.stat()).size - LOG_END_BYTES);
      const { bytesRead, buffer } = await log.read(Buffer.alloc(LOG_END_BYTES), 0, LOG_END_BYTES, start);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await log.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "";
    throw error;
  }
}

/**
 * Whether a daemon's main thread has ended with an exception since its last start: other threads may keep the process alive, which never
 * serves.
 * @param {string} log the daemon's log, or its end
 */
export function mainThreadFailed(log) {
  return log.lastIndexOf('Exception in thread "main"') > log.lastIndexOf(START_LINE);
}

/** @param {ClusterRecord} cluster @param {Daemon} daemon */
const pidFile = (cluster, daemon) => join(layout(cluster.state).pids, daemon.name);

/**
 * The pid of a running daemon. The recorded number may belong to another process by now: the process must have the
 * daemon's markers in its arguments, which a zombie does not.
 * @param {ClusterRecord} cluster @param {Daemon} daemon
 * @returns {Promise<number | undefined>}
 */
export async function runningPid(cluster, daemon) {
  const pid = Number(await readFile(pidFile(cluster, daemon), "utf8").catch(() => "0"));
  return pid > 0 && (await carriesMarkers(pid, markersOf(cluster.state, daemon.name))) ? pid : undefined;
}

/** @param {number} pid @param {string[]} markers */
async function carriesMarkers(pid, markers) {
  const commandLine = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
  return markers.every((marker) => commandLine.includes(marker));
}

/**
 * @param {ClusterRecord} cluster @param {Daemon} daemon @param {NodeJS.Signals} signal
 * @returns {Promise<boolean>} whether the daemon ran and got the signal
 */
export async function signalDaemon(cluster, daemon, signal) {
  const pid = await runningPid(cluster, daemon);
  if (pid === undefined) return false;
  process.kill(pid, signal);
  return true;
}

/**
 * Ends a daemon: TERM, and KILL if it still exists after the grace period.
 * @param {ClusterRecord} cluster @param {Daemon} daemon
 * @returns {Promise<void>} resolves when the process is gone
 */
export async function endDaemon(cluster, daemon, { graceMs = 8000 } = {}) {
  const killAt = performance.now() + graceMs;
  if (await signalDaemon(cluster, daemon, "SIGTERM")) {
    // A stopped process handles TERM only once it continues.
    await signalDaemon(cluster, daemon, "SIGCONT");
    while ((await runningPid(cluster, daemon)) !== undefined) {
      if (performance.now() > killAt) await signalDaemon(cluster, daemon, "SIGKILL");
      await sleep(50);
    }
  }
  await rm(pidFile(cluster, daemon), { force: true });
}

/**
 * The processes of a cluster: its daemons, and those that its NodeManagers started, which survive them by design. A
 * container's process has folders of its NodeManager in its environment, or has its working directory in one.
 * @param {string} state
 */
export async function processesOf(state) {
  const [marker = ""] = markersOf(state, "");
  const data = `${layout(state).data}/`;
  /** @type {{ daemons: number[], containers: { pid: number, command: string }[] }} */
  const found = { daemons: [], containers: [] };
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0 && pid !== process.pid);
  await Promise.all(
    pids.map(async (pid) => {
      const commandLine = (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0");
      const environment = (await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "")).split("\0");
      const folder = await readlink(`/proc/${pid}/cwd`).catch(() => "");
      if (commandLine.includes(marker)) found.daemons.push(pid);
      else if (
        environment.some((variable) => variable.startsWith(`LOCAL_DIRS=${data}`)) ||
        (folder.startsWith(data) && folder.includes("/local/usercache/"))
      ) {
        found.containers.push({ pid, command: commandLine.join(" ").trim().slice(0, 500) });
      }
    }),
  );
  found.containers.sort((one, other) => one.pid - other.pid);
  return found;
}

/** Kills the remaining processes of a cluster until none is left. @param {string} state @returns {Promise<number>} how many processes were killed */
export async function killProcessesOf(state, { waitMs = 10_000 } = {}) {
  const giveUpAt = performance.now() + waitMs;
  const killed = new Set();
  for (;;) {
    const { daemons, containers } = await processesOf(state);
    const pids = [...daemons, ...containers.map(({ pid }) => pid)];
    if (pids.length === 0) return killed.size;
    if (performance.now() > giveUpAt) throw new Error(`processes ${pids.join(", ")} of ${state} do not end`);
    for (const pid of pids) {
      killed.add(pid);
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if (codeOf(error) !== "ESRCH") throw error;
      }
    }
    await sleep(50);
  }
}
