import { addressesOf } from "./addresses.ts";
import { gangOnly } from "./checks.ts";
import type { FrameworkDefinition, FrameworkJob, FrameworkProblem } from "./framework.ts";
import { type Place, placeOf } from "./ranks.ts";
import { rendezvousStore } from "./rendezvous-store.ts";
import type { horovodVariables } from "./variables.ts";

type Variable = keyof typeof horovodVariables;
/** How long a process waits for others: horovodrun has an option for it. */
type Default = "HOROVOD_GLOO_TIMEOUT_SECONDS";

/**
 * Horovod over Gloo (horovod/runner/gloo_run.py sets the same variables). Where TonY runs a driver for it, the executor of rank 0 serves
 * the rendezvous, on the port that it holds anyway.
 */
export const horovod: FrameworkDefinition<Exclude<Variable, Default>, Default> = {
  check: (job) => [...gangOnly(job, "Horovod"), ...ownPort(job)],
  severalProcesses: "executor",
  defaults: () => ({ HOROVOD_GLOO_TIMEOUT_SECONDS: "2000" }),
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    const { master, rank, size, localRank, localSize } = place;
    const hosts = hostsWith(place, localRank);
    return {
      HOROVOD_CONTROLLER: "gloo",
      HOROVOD_CPU_OPERATIONS: "gloo",
      HOROVOD_GLOO_RENDEZVOUS_ADDR: master.host,
      HOROVOD_GLOO_RENDEZVOUS_PORT: String(master.port),
      HOROVOD_HOSTNAME: hostNameOf(place.trainer.machine),
      HOROVOD_RANK: String(rank),
      HOROVOD_SIZE: String(size),
      HOROVOD_LOCAL_RANK: String(localRank),
      HOROVOD_LOCAL_SIZE: String(localSize),
      HOROVOD_CROSS_RANK: String(hosts.indexOf(place.trainer.machine)),
      HOROVOD_CROSS_SIZE: String(hosts.length),
      CLUSTER_SPEC: JSON.stringify(addressesOf(task)),
    };
  },
  serve: (task) => {
    const place = placeOf(task);
    return place?.rank === 0 ? rendezvousStore(scopeSizes(place)) : undefined;
  },
};

/** A port that is left to the program while it runs cannot serve the rendezvous. */
function ownPort({ roles }: FrameworkJob): FrameworkProblem[] {
  if (!roles.some(({ reusePort }) => reusePort)) return [];
  const message = "is not for Horovod, whose rendezvous is served at the port of rank 0: take it out";
  return [{ severity: "error", key: "tony.task.reuse-port", message }];
}

/** As Horovod names the scopes: all processes, those of a host, and those of one local rank. */
function scopeSizes(place: Place): ReadonlyMap<string, number> {
  const perHost = place.machines.map((machine): [string, number] => [machine, processesOn(place, machine)]);
  const most = Math.max(...perHost.map(([, count]) => count));
  const local = perHost.map(([machine, count]): [string, number] => [`local_${hostNameOf(machine)}`, count]);
  const cross = Array.from({ length: most }, (_, localRank): [string, number] => {
    return [`cross_${localRank}`, hostsWith(place, localRank).length];
  });
  return new Map([["global", place.size], ["global_", place.size], ...local, ...cross]);
}

/** The hosts that have a process of that local rank. */
function hostsWith(place: Place, localRank: number): string[] {
  return place.machines.filter((machine) => processesOn(place, machine) > localRank);
}

function processesOn({ trainers }: Place, machine: string): number {
  return trainers.filter((one) => one.machine === machine).reduce((sum, { processes }) => sum + processes, 0);
}

/** A container with GPUs, which counts as a host, is called by its task; the name becomes part of a path. */
function hostNameOf(machine: string): string {
  return machine.replaceAll(":", "-");
}
