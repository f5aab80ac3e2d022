import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { daemonsOf } from "./daemons.mjs";
import { stateFolder } from "./folders.mjs";
import { killApplication, unfinishedApplications } from "./hadoop-state.mjs";
import { removeNetwork } from "./isolation.mjs";
import { withLock } from "./lock.mjs";
import { releaseNetwork } from "./network.mjs";
import { endDaemon, killProcessesOf, runningPid } from "./processes.mjs";
import { readRecord } from "./record.mjs";
import { withdrawHostNames } from "./secure/host-names.mjs";
import { unmountDisks } from "./small-disk.mjs";

/** @import { ClusterRecord } from "./record.mjs" */

/** How long applications may take to end in order, which aggregates their logs. */
const APPLICATIONS_END_MS = 5000;

/**
 * Ends the cluster: its applications, its daemons, and any remaining process of a container.
 * @param {string} name
 * @param {{ deleteState?: boolean }} [options] also removes the state folder and releases its addresses
 * @returns {Promise<{ daemons: number, applications: number, leftovers: number } | undefined>} how many ended; undefined when there is no such
 * cluster
 */
export async function down(name, { deleteState = false } = {}) {
  const state = stateFolder(name);
  return await withLock(`cluster ${state}`, async () => {
    const cluster = await readRecord(state);
    if (cluster === undefined) return await endOrphans(state);
    const daemons = daemonsOf(cluster);
    const pids = await Promise.all(daemons.map((daemon) => runningPid(cluster, daemon)));
    const applications = await endApplications(cluster);
    await Promise.all(daemons.map((daemon) => endDaemon(cluster, daemon)));
    const leftovers = await killProcessesOf(state);
    await removeNetwork(cluster);
    await unmountDisks(state);
    if (cluster.settings.secure) await withdrawHostNames(cluster);
    if (deleteState) {
      await rm(state, { recursive: true, force: true });
      await releaseNetwork(state);
    }
    return { daemons: pids.filter((pid) => pid !== undefined).length, applications, leftovers };
  });
}

/**
 * Handles a state folder that was removed under a running cluster: its processes still have the folder's name in their arguments. @param
 * {string} state
 */
async function endOrphans(state) {
  const leftovers = await killProcessesOf(state);
  return leftovers === 0 ? undefined : { daemons: 0, applications: 0, leftovers };
}

/** @param {ClusterRecord} cluster @returns {Promise<number>} how many applications had not ended; also 0 when the ResourceManager is unavailable */
async function endApplications(cluster) {
  const running = await unfinishedApplications(cluster);
  await Promise.allSettled(running.map((application) => killApplication(cluster, application)));
  const giveUpAt = performance.now() + APPLICATIONS_END_MS;
  while (running.length > 0 && performance.now() < giveUpAt && (await unfinishedApplications(cluster)).length > 0) {
    await sleep(100);
  }
  return running.length;
}
