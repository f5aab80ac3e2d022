import type { ContainerId } from "../hadoop/yarn/records.ts";
import { BUNDLES, logPrefixOf } from "../job/launch/container-names.ts";
import { logFileOf } from "../job/launch/launch-command.ts";
import { fieldsOf } from "./own-log.ts";

/** The file's name, in the log folder of the AM's container. */
export const masterLog = logFileOf(BUNDLES.am);

/** A task's stay in one container. */
export interface Tenancy {
  readonly task: string;
  /** In a search, the task's name within its trial (`trial:17/worker:0`). */
  readonly trial?: string;
  readonly containerId: ContainerId;
  /** The prefix of its log files' names there. */
  readonly logPrefix: string;
  /** A program of the task ran in it, so there are logs. */
  readonly ran: boolean;
}

/** The event of a program's start. */
const startEvent = "task-started";

/** Which tasks ran in which containers, in order of arrival, from the lines that name both. */
export function tenanciesOf(masterLogText: string): Tenancy[] {
  const tasksOf = new Map<ContainerId, Set<string>>();
  const tenancies: Tenancy[] = [];
  const ran = new Set<string>();
  const trials = new Map<string, string>();
  for (const line of masterLogText.split("\n")) {
    const { task, trial, container, event } = fieldsOf(line);
    if (typeof task !== "string" || typeof container !== "string") continue;
    if (typeof trial === "string") trials.set(task, trial);
    if (event === startEvent) ran.add(`${task} ${container}`);
    const tasks = tasksOf.get(container) ?? new Set();
    tasksOf.set(container, tasks);
    if (tasks.has(task)) continue;
    const logPrefix = tasks.size === 0 ? "" : logPrefixOf(task);
    tenancies.push({ task, containerId: container, logPrefix, ran: false });
    tasks.add(task);
  }
  return tenancies.map((tenancy) => {
    const trial = trials.get(tenancy.task);
    return { ...tenancy, ...(trial && { trial }), ran: ran.has(`${tenancy.task} ${tenancy.containerId}`) };
  });
}

/** The last generation of the job's tasks, from the lines that name it. */
export function lastGeneration(masterLogText: string): number {
  const generations = masterLogText.split("\n").map((line) => fieldsOf(line).generation);
  return generations.reduce<number>((last, next) => (typeof next === "number" ? Math.max(last, next) : last), 1);
}
