import { formatHostPort } from "../hadoop/conf/values.ts";
import type { TaskAddress } from "../job/cluster-spec.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";
import { formatTaskId } from "../job/task.ts";
import type { FrameworkEnvironment, GangTask } from "./framework.ts";
import type { pytorchVariables } from "./variables.ts";

/**
 * What torch.distributed's `env://` and torchrun's programs read (MASTER_ADDR … GROUP_RANK), and TonY's INIT_METHOD, RANK and WORLD.
 * Tasks that do not train (parameter servers, evaluators, sidecars) get none of it.
 */
export const pytorch: FrameworkEnvironment<keyof typeof pytorchVariables> = {
  environment: (task) => {
    const trainers = trainersOf(task);
    const own = formatTaskId(task.role.name, task.index);
    const rank = trainers.findIndex(({ address }) => address.task === own);
    const [master] = trainers;
    const trainer = trainers[rank];
    if (master === undefined || trainer === undefined) return undefined;
    const neighbours = trainers.filter(({ machine }) => machine === trainer.machine);
    const machines = [...new Set(trainers.map(({ machine }) => machine))];
    return {
      INIT_METHOD: `tcp://${formatHostPort(master.address)}`,
      RANK: String(rank),
      WORLD: String(trainers.length),
      WORLD_SIZE: String(trainers.length),
      MASTER_ADDR: master.address.host,
      MASTER_PORT: String(master.address.port),
      LOCAL_RANK: String(neighbours.indexOf(trainer)),
      LOCAL_WORLD_SIZE: String(neighbours.length),
      GROUP_RANK: String(machines.indexOf(trainer.machine)),
    };
  },
};

interface Trainer {
  readonly address: TaskAddress;
  /** Trainers of one machine count their local ranks together. */
  readonly machine: string;
}

/** In the order of their ranks: the chief, the workers, then the other tracked roles in the job's order. */
function trainersOf({ spec, cluster }: GangTask): Trainer[] {
  const byTask = new Map(cluster.tasks.map((address) => [address.task, address]));
  return rankedRoles(spec).flatMap((role) =>
    Array.from({ length: role.instances }, (_, index) => {
      const address = byTask.get(formatTaskId(role.name, index));
      return address === undefined ? [] : [{ address, machine: machineOf(role, address) }];
    }).flat(),
  );
}

function rankedRoles(spec: JobSpec): RoleSpec[] {
  const first = (role: RoleSpec) => (role.name === "chief" ? 0 : role.name === "worker" ? 1 : 2);
  return spec.roles
    .filter(({ name, tracking }) => tracking === "tracked" && name !== "evaluator")
    .sort((a, b) => first(a) - first(b));
}

/**
 * A program takes LOCAL_RANK for the number of its device. YARN shows a container only the GPUs that it was given, numbered from 0,
 * so a container with GPUs is a machine of its own.
 */
function machineOf(role: RoleSpec, { host, task }: TaskAddress): string {
  return (role.resource.others["yarn.io/gpu"] ?? 0) > 0 ? task : host;
}
