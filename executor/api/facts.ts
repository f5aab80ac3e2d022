import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { formatTaskId } from "../../src/job/task.ts";
import { CallError } from "./call.ts";

/** What a program may know of its task. */
export function taskFacts(start: ProgramStart) {
  const { task, applicationId, attempt, generation, restarts, restartReason, checkpoint, address, ports } = start;
  return {
    task: formatTaskId(task.role, task.index),
    ...{ role: task.role, index: task.index, applicationId, attempt, generation, restarts },
    ...(restartReason && { restartReason }),
    ...(checkpoint && { checkpoint }),
    ...(address && { host: address.host, port: address.port }),
    ...(ports && Object.keys(ports).length > 0 && { ports }),
  };
}

/** @throws CallError where programs start one by one */
export function clusterFacts({ cluster }: ProgramStart) {
  if (cluster !== undefined) return cluster;
  throw new CallError(
    404,
    "NO_CLUSTER",
    "a job whose tony.application.distributed-mode is FCFS has no cluster spec: its tasks start one by one",
  );
}
