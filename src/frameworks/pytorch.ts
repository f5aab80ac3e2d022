import { formatHostPort } from "../hadoop/conf/values.ts";
import type { FrameworkDefinition } from "./framework.ts";
import { placeOf } from "./ranks.ts";
import type { pytorchVariables } from "./variables.ts";

/**
 * The variables that torch.distributed's `env://` and torchrun's programs read (MASTER_ADDR … GROUP_RANK), and TonY's INIT_METHOD,
 * RANK and WORLD. Tasks that do not train (parameter servers, evaluators, sidecars) get none of them.
 */
export const pytorch: FrameworkDefinition<keyof typeof pytorchVariables> = {
  check: ({ distributedMode }) => {
    if (distributedMode === "gang") return [];
    const message = "= fcfs gives PyTorch no ranks and no master address; gang does";
    return [{ severity: "warning", key: "tony.application.distributed-mode", message }];
  },
  severalProcesses: "executor",
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    const { master, rank, size, localRank, localSize, machines, trainer } = place;
    return {
      INIT_METHOD: `tcp://${formatHostPort(master)}`,
      RANK: String(rank),
      WORLD: String(size),
      WORLD_SIZE: String(size),
      MASTER_ADDR: master.host,
      MASTER_PORT: String(master.port),
      LOCAL_RANK: String(localRank),
      LOCAL_WORLD_SIZE: String(localSize),
      GROUP_RANK: String(machines.indexOf(trainer.machine)),
    };
  },
};
