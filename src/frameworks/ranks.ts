import type { TaskAddress } from "../job/cluster-spec.ts";
import { gpusOf } from "../job/gpus.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";
import { formatTaskId } from "../job/task.ts";
import type { GangTask } from "./framework.ts";

/** A task that trains. */
export interface Trainer {
  readonly address: TaskAddress;
  /** Trainers on one machine share the count of local ranks. */
  readonly machine: string;
  readonly processes: number;
}

/** The place of one process among all that train. */
export interface Place {
  /** Rank 0's task. */
  readonly master: TaskAddress;
  readonly trainer: Trainer;
  /** In the order of their ranks. */
  readonly trainers: readonly Trainer[];
  readonly rank: number;
  readonly size: number;
  readonly localRank: number;
  readonly localSize: number;
  /** In the order of their first ranks. */
  readonly machines: readonly string[];
}

/** Undefined for a task that does not train: a parameter server, an evaluator, a sidecar. */
export function placeOf(task: GangTask): Place | undefined {
  const trainers = trainersOf(task);
  const own = formatTaskId(task.role.name, task.index);
  const position = trainers.findIndex(({ address }) => address.task === own);
  const [first] = trainers;
  const trainer = trainers[position];
  if (first === undefined || trainer === undefined) return undefined;
  const neighbours = trainers.filter(({ machine }) => machine === trainer.machine);
  return {
    master: first.address,
    trainer,
    trainers,
    rank: processesOf(trainers.slice(0, position)) + task.process,
    size: processesOf(trainers),
    localRank: processesOf(neighbours.slice(0, neighbours.indexOf(trainer))) + task.process,
    localSize: processesOf(neighbours),
    machines: [...new Set(trainers.map(({ machine }) => machine))],
  };
}

function processesOf(trainers: readonly Trainer[]): number {
  return trainers.reduce((sum, { processes }) => sum + processes, 0);
}

/** The chief, the workers, then the other tracked roles in the job's order. */
function trainersOf({ spec, cluster }: GangTask): Trainer[] {
  const byTask = new Map(cluster.tasks.map((address) => [address.task, address]));
  return rankedRoles(spec).flatMap((role) =>
    Array.from({ length: role.instances }, (_, index) => {
      const address = byTask.get(formatTaskId(role.name, index));
      return address === undefined
        ? []
        : [{ address, machine: machineOf(spec, role, address), processes: role.processes }];
    }).flat(),
  );
}

/** Whether the role's tasks have ranks: evaluators and roles that nobody waits for have none. */
export function trains({ name, tracking }: Pick<RoleSpec, "name" | "tracking">): boolean {
  return tracking === "tracked" && name !== "evaluator";
}

function rankedRoles({ roles }: JobSpec): RoleSpec[] {
  const first = (role: RoleSpec) => (role.name === "chief" ? 0 : role.name === "worker" ? 1 : 2);
  return roles.filter(trains).sort((a, b) => first(a) - first(b));
}

/**
 * A program uses its local rank as the number of its device. YARN shows a container only the GPUs that it was given, numbered from 0,
 * so a container with GPUs counts as a machine of its own.
 */
function machineOf(spec: JobSpec, role: RoleSpec, { host, task }: TaskAddress): string {
  return hasGpus(spec, role) ? task : host;
}

export function hasGpus({ gpuTypes }: JobSpec, { resource }: RoleSpec): boolean {
  return gpusOf(resource.others, gpuTypes) > 0;
}
