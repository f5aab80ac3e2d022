import type { ClusterSpec } from "../cluster-spec.ts";
import type { JobSpec } from "../spec.ts";
import { formatTaskId, parseTaskId, type TaskId, type TaskName } from "../task.ts";

type Job = Pick<JobSpec, "trials"> & {
  readonly roles: readonly { readonly name: string; readonly instances: number }[];
};

/** The task whose reports are a trial's: its only one, or of a trial that is a gang the one that leads it. */
export function leadOfTrial({ trials, roles, leadTask }: Job & Pick<JobSpec, "leadTask">, number: number): TaskId {
  if (trials === undefined) return formatTaskId(roles[0]?.name ?? "", number);
  const { role, index } = parseTaskId(leadTask) ?? { role: "", index: 0 };
  const { instances = 1 } = roles.find(({ name }) => name === role) ?? {};
  return formatTaskId(role, number * instances + index);
}

/** A task of a search: the number of its trial, and its name there. The job's tasks of a role are those of one trial after the other. */
export function inTrial({ trials, roles }: Job, { role, index }: TaskName): { number: number; task: TaskName } {
  const instances = roles.find(({ name }) => name === role)?.instances ?? 1;
  return trials === undefined
    ? { number: index, task: { role, index } }
    : { number: Math.floor(index / instances), task: { role, index: index % instances } };
}

/** The tasks of a trial, which are all that its programs are told of, by the names that they have there. */
export function clusterOfTrial(job: Job, cluster: ClusterSpec): ClusterSpec {
  const tasks = cluster.tasks.map((address) => {
    const name = parseTaskId(address.task);
    const own = name && inTrial(job, name).task;
    return own === undefined ? address : { ...address, task: formatTaskId(own.role, own.index) };
  });
  return { ...cluster, tasks };
}
