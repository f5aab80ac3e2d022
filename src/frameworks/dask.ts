import { formatHostPort } from "../hadoop/conf/values.ts";
import { firstOf } from "./addresses.ts";
import { exactlyOne, type FrameworkDefinition, gangOnly } from "./framework.ts";
import type { daskVariables } from "./variables.ts";

const SCHEDULER = "scheduler";

/** `DASK_SCHEDULER_ADDRESS` tells `dask worker` and `distributed.Client()` where their scheduler is (Dask's configuration by variables). */
export const dask: FrameworkDefinition<keyof typeof daskVariables> = {
  check: (job) => [...gangOnly(job, "Dask"), ...exactlyOne(job, SCHEDULER, "the scheduler of Dask's workers")],
  environment: (task) => {
    const scheduler = firstOf(task, SCHEDULER);
    return scheduler && { DASK_SCHEDULER_ADDRESS: `tcp://${formatHostPort(scheduler)}` };
  },
};
