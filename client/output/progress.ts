import type { JobStatus, RoleStatus, TaskStatus } from "../../src/job/status.ts";
import { counted, formatResource } from "./format.ts";

/** One line of a job's way, such as `worker 2/2 allocated`, and what belongs to it. */
export interface Milestone {
  readonly what: string;
  readonly details: string;
}

/** What a job has come to between two states that were seen of it, in the order in which it happens; `before` is absent at first. */
export function milestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  return [
    ...masterMilestones(before, after),
    ...generationMilestones(before, after),
    ...after.roles.flatMap((role) => roleMilestones(sameRole(before, role, after), role, after)),
    ...serviceMilestones(before, after),
  ];
}

function masterMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  if (before === undefined || before.attempt === after.attempt) return [];
  const what = `AM restarted on ${after.amHost}`;
  return [{ what, details: `attempt ${after.attempt}; the tasks run on` }];
}

function generationMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  if (before === undefined || after.generation <= before.generation) return [];
  const ended = after.generations.find(({ generation }) => generation === after.generation - 1);
  const { program, infrastructure } = after.budgets;
  const spent = ended?.endedBy?.class === "program" ? program : infrastructure;
  const kind = ended?.endedBy?.class === "program" ? "program failures" : "infrastructure failures";
  const details = [
    ended?.endedBy?.summary ?? "restarted",
    `${spent.used} of ${spent.limit} ${kind} spent`,
    ...(after.checkpoint === undefined ? [] : [`resumes from step ${after.checkpoint.step}`]),
  ];
  return [{ what: `generation ${after.generation}`, details: details.join(" · ") }];
}

/** A role's counts of the generation before are no progress of this one. */
function sameRole(before: JobStatus | undefined, role: RoleStatus, after: JobStatus): RoleStatus | undefined {
  if (before === undefined || before.generation !== after.generation) return undefined;
  return before.roles.find(({ name }) => name === role.name);
}

function roleMilestones(before: RoleStatus | undefined, role: RoleStatus, status: JobStatus): Milestone[] {
  const lines: Milestone[] = [];
  const all = (count: (role: RoleStatus) => number) =>
    count(role) >= role.instances && (before === undefined || count(before) < role.instances);
  const tasks = status.tasks.filter(({ task }) => task.startsWith(`${role.name}:`));
  if (tasks.some(isUnstarted)) return [];
  if (all(started)) {
    lines.push({ what: `${role.name} ${role.instances}/${role.instances} running`, details: "cluster spec sent" });
  } else if (all(({ allocated }) => allocated)) {
    lines.push({ what: `${role.name} ${role.instances}/${role.instances} allocated`, details: placesOf(tasks) });
  }
  return lines;
}

/** Stopped before its program was started, as in a job that is killed while it waits. */
function isUnstarted({ state, startedAtMs }: TaskStatus): boolean {
  return state === "stopped" && startedAtMs === undefined;
}

/** Tasks whose program was started: a quick one may have ended before it was seen running. */
function started({ running, ended }: RoleStatus): number {
  return running + ended;
}

function placesOf(tasks: readonly TaskStatus[]): string {
  const shown = tasks.slice(0, 4).map(({ task, host }) => `${task} ${host ?? "–"}`);
  return tasks.length > 4 ? `${shown.join(" · ")} · and ${tasks.length - 4} more` : shown.join(" · ");
}

function serviceMilestones(before: JobStatus | undefined, after: JobStatus): Milestone[] {
  const known = new Set(before?.services.map(({ url }) => url));
  return after.services
    .filter(({ url }) => !known.has(url))
    .map(({ name, url }) => ({ what: name === "tensorboard" ? "TensorBoard" : name, details: url }));
}

/** The last line of a job that went well: `2 of 2 tasks exited 0 · 0 restarts · 0.007 GiB·h`. */
export function successDetails(status: JobStatus): string {
  const succeeded = status.tasks.filter(({ state }) => state === "succeeded").length;
  const restarts = status.generation - 1 + status.tasks.reduce((sum, task) => sum + task.restarts, 0);
  return [
    `${succeeded} of ${counted(status.tasks.length, "task")} exited 0`,
    counted(restarts, "restart"),
    formatUsage(status),
  ].join(" · ");
}

/** Memory held over time: `0.007 GiB·h`. */
export function formatUsage({ usage }: JobStatus): string {
  return `${Number((usage.memoryMiBSeconds / 1024 / 3600).toPrecision(2))} GiB·h`;
}

/** `worker × 2 (1 GiB, 1 core)` for every role. */
export function describeRoles(
  roles: readonly {
    readonly name: string;
    readonly instances: number;
    readonly resource: Parameters<typeof formatResource>[0];
  }[],
): string {
  return roles.map((role) => `${role.name} × ${role.instances} (${formatResource(role.resource)})`).join(", ");
}
