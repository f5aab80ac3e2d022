import type { ClusterSpec } from "../cluster-spec.ts";
import type { JobSpec } from "../spec.ts";
import type { JobStatus } from "../status.ts";
import { formatTaskId, parseTaskId, type TaskId, type TaskName } from "../task.ts";

/** A job in the form that people see. */
type Shown = Pick<JobStatus, "search" | "roles">;

type Job = Pick<JobSpec, "trials"> & {
  readonly roles: readonly { readonly name: string; readonly instances: number }[];
};

/** The task whose reports count for a trial: its only task, or the lead task of a trial that is a gang. */
export function leadOfTrial({ trials, roles, leadTask }: Job & Pick<JobSpec, "leadTask">, number: number): TaskId {
  if (trials === undefined) return formatTaskId(roles[0]?.name ?? "", number);
  const { role, index } = parseTaskId(leadTask) ?? { role: "", index: 0 };
  const { instances = 1 } = roles.find(({ name }) => name === role) ?? {};
  return formatTaskId(role, number * instances + index);
}

/** The trial's number and the task's name within it. The job's tasks of a role belong to one trial after the other. */
export function inTrial({ trials, roles }: Job, { role, index }: TaskName): { number: number; task: TaskName } {
  const instances = roles.find(({ name }) => name === role)?.instances ?? 1;
  return trials === undefined
    ? { number: index, task: { role, index } }
    : { number: Math.floor(index / instances), task: { role, index: index % instances } };
}

/** The name of a search's task by its trial: `trial:17/worker:0`. */
export function nameInTrial(job: Job, id: TaskId): string {
  const { number, task: own } = inTrial(job, parseTaskId(id) ?? { role: id, index: 0 });
  return `trial:${number}/${formatTaskId(own.role, job.trials === undefined ? 0 : own.index)}`;
}

/** The same for a job in the form that people see, whose roles count the tasks of all trials; undefined where it is not a search. */
export function shownNameInTrial({ search, roles }: Shown, id: TaskId): string | undefined {
  if (search === undefined) return undefined;
  const { trials } = search;
  const ofOne = trials === undefined ? roles : roles.map((role) => ({ ...role, instances: role.instances / trials }));
  return nameInTrial({ ...(trials !== undefined && { trials }), roles: ofOne }, id);
}

/** The name that people see for a task: in a search its trial, `trial:17`, or where that has several tasks `trial:17/worker:1`. */
export function spokenName(job: Shown, id: TaskId): string {
  return ofOneTask(job.search, shownNameInTrial(job, id)) ?? id;
}

/** The same for a task that an ApplicationMaster mentions. */
export function spokenNameIn(spec: Job & Pick<JobSpec, "search">, id: TaskId): string {
  return spec.search === undefined ? id : (ofOneTask(spec, nameInTrial(spec, id)) ?? id);
}

function ofOneTask(job: { readonly trials?: number } | undefined, name: string | undefined): string | undefined {
  return job?.trials === undefined ? name?.replace(/\/.*/, "") : name;
}

/** The beginning of sentences about a task. */
const ABOUT = /^(the executor of |)([^\s:]+:\d+)(?= |'s )/;

/** A sentence with the name that people see for its task. */
export function saidOfTask(job: Shown, sentence: string): string {
  return sentence.replace(ABOUT, (_, before: string, id: TaskId) => `${before}${spokenName(job, id)}`);
}

/** The same after the name of its trial: `exited 1 on n1`, or where that has several tasks `worker:1 exited 1 on n1`. */
export function saidWithinTrial(job: Shown, sentence: string): string {
  const within = saidOfTask(job, sentence).replace(/^(the executor of |)trial:\d+[ /]/, "$1");
  return job.search !== undefined && job.search.trials === undefined
    ? within.replace(/^the executor of /, "its executor ")
    : within;
}

/** A task's name within its trial; in another job its own name. */
export function nameWithinTrial(job: Job, id: TaskId): string {
  return job.trials === undefined ? id : nameInTrial(job, id).replace(/^trial:\d+\//, "");
}

/** Whether `trial:17`, `trial:17/worker` or `trial:17/worker:0` includes the task with that name. */
export function isOfTrial(nameByTrial: string | undefined, named: string): boolean {
  if (nameByTrial === undefined) return false;
  return nameByTrial === named || [":", "/"].some((end) => nameByTrial.startsWith(`${named}${end}`));
}

/** The tasks of a trial, with their names within it: its programs learn of no others. */
export function clusterOfTrial(job: Job, cluster: ClusterSpec): ClusterSpec {
  const tasks = cluster.tasks.map((address) => {
    const name = parseTaskId(address.task);
    const own = name && inTrial(job, name).task;
    return own === undefined ? address : { ...address, task: formatTaskId(own.role, own.index) };
  });
  return { ...cluster, tasks };
}
