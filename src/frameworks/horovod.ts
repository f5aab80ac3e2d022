import type { RequestListener } from "node:http";
import { leastInstances } from "../job/spec.ts";
import { parseTaskId } from "../job/task.ts";
import { addressesOf } from "./addresses.ts";
import { elasticRendezvous, hostOf, OTHERS_DONE } from "./elastic-horovod/elastic-rendezvous.ts";
import { NOBODY_THERE, SLOT_PRELUDE } from "./elastic-horovod/prelude.ts";
import {
  type FrameworkDefinition,
  type FrameworkJob,
  type FrameworkProblem,
  type GangTask,
  gangOnly,
} from "./framework.ts";
import { type Place, placeOf } from "./ranks.ts";
import { rendezvousStore, scopeSizes } from "./rendezvous-store.ts";
import type { elasticHorovodVariables, horovodVariables } from "./variables.ts";

type Variables<Table> = Readonly<Record<keyof Table & string, string>>;

/** TonY's limit for all that start together, in seconds: horovodrun has an option for it. */
const TOGETHER_SECONDS = 2000;
/** Where tasks may disappear silently, nothing waits longer than this; a wait that fails starts again with those that are left. */
const ELASTIC_SECONDS = 60;

/** The last line of its shell. */
const MISSED = {
  closed: new RegExp(`^tony-ts: ${OTHERS_DONE}$`, "m"),
  empty: new RegExp(`^tony-ts: ${NOBODY_THERE} `, "m"),
};

/**
 * Horovod over Gloo (horovod/runner/gloo_run.py sets the same variables). Where TonY runs a driver for it, here the executor of rank 0
 * serves the rendezvous, on the port that it holds anyway.
 */
export const horovod: FrameworkDefinition = {
  check: (job) => [...gangOnly(job, "Horovod"), ...ownPort(job)],
  severalProcesses: "executor",
  elastic: { outlivesExits: true, missed: MISSED },
  defaults: (task) => ({
    HOROVOD_GLOO_TIMEOUT_SECONDS: String(isElastic(task) ? ELASTIC_SECONDS : TOGETHER_SECONDS),
  }),
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    return { ...common(task, place), ...(isElastic(task) ? elastic(task) : fixed(place)) };
  },
  prelude: (task) => (isElastic(task) && placeOf(task) !== undefined ? SLOT_PRELUDE : undefined),
  serve: (task) => {
    const place = placeOf(task);
    if (place?.rank !== 0) return undefined;
    return isElastic(task) ? elasticRendezvousOf(task) : rendezvousStore(scopeSizes(processesByHost(place)));
  },
};

function isElastic({ role }: GangTask): boolean {
  return role.minInstances !== undefined;
}

function common(task: GangTask, { master }: Place): Partial<Variables<typeof horovodVariables>> {
  return {
    HOROVOD_CONTROLLER: "gloo",
    HOROVOD_CPU_OPERATIONS: "gloo",
    HOROVOD_GLOO_RENDEZVOUS_ADDR: master.host,
    HOROVOD_GLOO_RENDEZVOUS_PORT: String(master.port),
    CLUSTER_SPEC: JSON.stringify(addressesOf(task)),
  };
}

/** All tasks exist from the start, in their order. */
function fixed(place: Place): Partial<Variables<typeof horovodVariables>> {
  const { trainer, rank, size, localRank, localSize } = place;
  const hosts = hostsWith(place, localRank);
  return {
    HOROVOD_HOSTNAME: hostNameOf(trainer.machine),
    HOROVOD_RANK: String(rank),
    HOROVOD_SIZE: String(size),
    HOROVOD_LOCAL_RANK: String(localRank),
    HOROVOD_LOCAL_SIZE: String(localSize),
    HOROVOD_CROSS_RANK: String(hosts.indexOf(trainer.machine)),
    HOROVOD_CROSS_SIZE: String(hosts.length),
  };
}

/**
 * Each task is a host of its own, so that a process keeps its name while others on the node come and go. The rest of its slot comes from the
 * rendezvous (prelude.ts).
 */
function elastic({
  role,
  index,
  process,
}: GangTask): Partial<Variables<typeof horovodVariables>> & Variables<typeof elasticHorovodVariables> {
  return {
    HOROVOD_ELASTIC: "1",
    HOROVOD_HOSTNAME: hostOf(role.name, index),
    HOROVOD_LOCAL_RANK: String(process),
  };
}

function elasticRendezvousOf(task: GangTask): RequestListener {
  const { role, cluster } = task;
  const together = cluster.tasks.map(({ task: id }) => parseTaskId(id));
  return elasticRendezvous({
    role: role.name,
    instances: role.instances,
    processes: role.processes,
    least: leastInstances(role),
    expected: together.flatMap((one) => (one?.role === role.name ? [one.index] : [])),
    nowMs: () => performance.now(),
  });
}

/** A port that is given to the program while it runs cannot serve the rendezvous. */
function ownPort({ roles }: FrameworkJob): FrameworkProblem[] {
  if (!roles.some(({ reusePort }) => reusePort)) return [];
  const message = "is not for Horovod, whose rendezvous is served at the port of rank 0: take it out";
  return [{ severity: "error", key: "tony.task.reuse-port", message }];
}

function processesByHost(place: Place): ReadonlyMap<string, number> {
  return new Map(place.machines.map((machine) => [hostNameOf(machine), processesOn(place, machine)]));
}

/** The hosts that have a process with that local rank. */
function hostsWith(place: Place, localRank: number): string[] {
  return place.machines.filter((machine) => processesOn(place, machine) > localRank);
}

function processesOn({ trainers }: Place, machine: string): number {
  return trainers.filter((one) => one.machine === machine).reduce((sum, { processes }) => sum + processes, 0);
}

/** A container with GPUs, which counts as a host, is named after its task; the name becomes part of a path. */
function hostNameOf(machine: string): string {
  return machine.replaceAll(":", "-");
}
