import { formatHostPort } from "../hadoop/conf/values.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";
import { type FrameworkDefinition, type GangTask, gangOnly } from "./framework.ts";
import { type Place, placeOf } from "./ranks.ts";
import type { elasticTorchrunVariables, torchrunVariables } from "./variables.ts";

/**
 * How long agents wait for others, in seconds, where some may be missing. They wait an hour for enough of them: a container may take that
 * long. Once there are enough, the rest has ten seconds: later ones are admitted too, and lost ones are awaited no longer than that.
 */
const Patience = { join: 3600, lastCall: 10 } as const;

type Variables<Table> = Readonly<Record<keyof Table & string, string>>;
type Always = Variables<typeof torchrunVariables>;
type OfElastic = Variables<typeof elasticTorchrunVariables>;

/**
 * The options of `torchrun` as variables (torch.distributed.run: each option's name after PET_): each task's command is a `torchrun`
 * without options, which starts the processes of its container. Its store uses the port that is held for rank 0.
 */
export const torchrun: FrameworkDefinition = {
  check: (job) => gangOnly(job, "torchrun"),
  severalProcesses: "program",
  // An agent whose program fails closes the meeting for all (launch_agent in torch/distributed/launcher/api.py).
  elastic: {
    outlivesExits: false,
    missed: { closed: /\bRendezvousClosedError\b/, empty: /\bRendezvousConnectionError\b/ },
  },
  defaults: ({ role, spec }) => (role.minInstances === undefined ? {} : elasticDefaults(spec, role)),
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    return { ...common(task, place), ...(task.role.minInstances === undefined ? fixed(place) : elastic(task, place)) };
  },
};

function common(
  { cluster: { generation, gangGeneration = generation } }: GangTask,
  { master, trainer }: Place,
): Partial<Always> {
  return {
    PET_NPROC_PER_NODE: String(trainer.processes),
    PET_RDZV_BACKEND: "c10d",
    PET_RDZV_ENDPOINT: formatHostPort(master),
    PET_RDZV_ID: `generation-${gangGeneration}`,
    PET_LOCAL_ADDR: trainer.address.host,
  };
}

/** All nodes exist from the start, in their order. */
function fixed({ trainer, trainers }: Place): Partial<Always> {
  return {
    PET_NNODES: String(trainers.length),
    PET_NODE_RANK: String(trainers.indexOf(trainer)),
    PET_RDZV_CONF: isHost(trainer === trainers[0]),
  };
}

/** Nodes come and go: ranks are assigned at each meeting. */
function elastic({ role: { minInstances, instances } }: GangTask, { trainer, trainers }: Place): Partial<Always> {
  const { join, lastCall } = Patience;
  return {
    PET_NNODES: `${minInstances}:${instances}`,
    PET_RDZV_CONF: `${isHost(trainer === trainers[0])},join_timeout=${join},last_call_timeout=${lastCall}`,
  };
}

/**
 * Each lost node makes the collectives of the others fail, which costs every agent a restart: they get as many as the job's budgets. Each
 * meeting creates the processes' store anew, because agents keep the address of the first one that they shared, even if its node is gone
 * (DynamicRendezvousHandler#next_rendezvous).
 */
function elasticDefaults({ failure: { budgets } }: JobSpec, { retryCount = budgets.program }: RoleSpec): OfElastic {
  return {
    PET_MAX_RESTARTS: String(retryCount + budgets.infrastructure),
    TORCH_DISABLE_SHARE_RDZV_TCP_STORE: "1",
  };
}

function isHost(is: boolean): string {
  return `is_host=${is}`;
}
