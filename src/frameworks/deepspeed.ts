import type { RoleSpec } from "../job/spec.ts";
import { type FrameworkDefinition, type FrameworkJob, type FrameworkProblem, gangOnly } from "./framework.ts";
import { pytorch } from "./pytorch.ts";
import { placeOf } from "./ranks.ts";
import type { deepspeedVariables, pytorchVariables } from "./variables.ts";

/** `deepspeed`, by any path, also after variables that are set for it. */
const LAUNCHER = /^\s*(?:exec\s+)?(?:\w+=\S*\s+)*"?(?:\S*\/)?deepspeed"?(?=\s|$)/;

/**
 * The variables that DeepSpeed's own launcher passes to its processes (deepspeed/launcher/launch.py), which include PyTorch's: the
 * command is the training program itself, and the executors start its processes.
 */
export const deepspeed: FrameworkDefinition<keyof typeof deepspeedVariables | keyof typeof pytorchVariables> = {
  check: (job) => [...gangOnly(job, "DeepSpeed"), ...ownLaunchers(job)],
  severalProcesses: "executor",
  environment: (task) => {
    const place = placeOf(task);
    const distributed = pytorch.environment(task);
    if (place === undefined || distributed === undefined) return undefined;
    return {
      ...distributed,
      LOCAL_SIZE: distributed.LOCAL_WORLD_SIZE,
      CROSS_RANK: distributed.GROUP_RANK,
      CROSS_SIZE: String(place.machines.length),
    };
  },
};

/** Each launcher would only know its own container. */
function ownLaunchers({ roles }: FrameworkJob): FrameworkProblem[] {
  const hasLauncher = ({ tracking, command }: RoleSpec) => tracking === "tracked" && LAUNCHER.test(command);
  return roles.filter(hasLauncher).map(({ name }) => ({
    severity: "error",
    key: `tony.${name}.command`,
    message: `starts DeepSpeed's launcher, which would train in each container alone: write python3 and the program; tony.${name}.processes says how many of it`,
  }));
}
