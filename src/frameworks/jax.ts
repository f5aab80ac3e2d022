import { formatHostPort } from "../hadoop/conf/values.ts";
import { type FrameworkDefinition, gangOnly } from "./framework.ts";
import { placeOf } from "./ranks.ts";
import type { jaxVariables } from "./variables.ts";

/**
 * The arguments of `jax.distributed.initialize`. It reads the coordinator's address itself (jax/_src/distributed.py); the program has to
 * pass the other two.
 */
export const jax: FrameworkDefinition<keyof typeof jaxVariables> = {
  check: (job) => gangOnly(job, "JAX"),
  severalProcesses: "executor",
  environment: (task) => {
    const place = placeOf(task);
    if (place === undefined) return undefined;
    return {
      JAX_COORDINATOR_ADDRESS: formatHostPort(place.master),
      JAX_PROCESS_ID: String(place.rank),
      JAX_NUM_PROCESSES: String(place.size),
    };
  },
};
