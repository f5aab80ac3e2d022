import { firstOf } from "./addresses.ts";
import { exactlyOne, type FrameworkDefinition, type GangTask, gangOnly } from "./framework.ts";
import type { mxnetVariables } from "./variables.ts";

const SCHEDULER = "scheduler";

/**
 * The variables that ps-lite reads (dmlc/ps-lite, docs/env.md). Its transport binds the scheduler's address, which therefore must be an IP
 * address.
 */
export const mxnet: FrameworkDefinition<keyof typeof mxnetVariables> = {
  check: (job) => [
    ...gangOnly(job, "MXNet"),
    ...exactlyOne(job, SCHEDULER, "the task that brings MXNet's servers and workers together"),
  ],
  lookedUp: (task) => [firstOf(task, SCHEDULER)].flatMap((scheduler) => scheduler?.host ?? []),
  environment: (task) => {
    const scheduler = firstOf(task, SCHEDULER);
    if (scheduler === undefined) return undefined;
    return {
      DMLC_ROLE: task.role.name,
      DMLC_PS_ROOT_URI: task.ips.get(scheduler.host) ?? scheduler.host,
      DMLC_PS_ROOT_PORT: String(scheduler.port),
      DMLC_LOCAL: "0",
      DMLC_NUM_SERVER: String(instancesOf(task, "server")),
      DMLC_NUM_WORKER: String(instancesOf(task, "worker")),
    };
  },
};

function instancesOf({ spec }: GangTask, role: string): number {
  return spec.roles.find(({ name }) => name === role)?.instances ?? 0;
}
