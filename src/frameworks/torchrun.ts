import { formatHostPort } from "../hadoop/conf/values.ts";
import { gangOnly } from "./checks.ts";
import type { FrameworkDefinition } from "./framework.ts";
import { placeOf } from "./ranks.ts";
import type { torchrunVariables } from "./variables.ts";

/**
 * The options of `torchrun` as variables (torch.distributed.run: each option's name after PET_): each task's command is a `torchrun`
 * without any, which makes the processes of its container. Its store is on the port that is held for rank 0.
 */
export const torchrun: FrameworkDefinition<keyof typeof torchrunVariables> = {
  check: (job) => gangOnly(job, "torchrun"),
  severalProcesses: "program",
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    const { master, trainer, trainers } = place;
    return {
      PET_NNODES: String(trainers.length),
      PET_NPROC_PER_NODE: String(trainer.processes),
      PET_NODE_RANK: String(trainers.indexOf(trainer)),
      PET_RDZV_BACKEND: "c10d",
      PET_RDZV_ENDPOINT: formatHostPort(master),
      PET_RDZV_ID: `generation-${task.cluster.generation}`,
      PET_RDZV_CONF: `is_host=${trainer === trainers[0]}`,
      PET_LOCAL_ADDR: trainer.address.host,
    };
  },
};
