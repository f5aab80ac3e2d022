import { countWords, memoryWords, sizeWords } from "../../src/job/reasons/words.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, RoleStatus, TaskStatus } from "../../src/job/status.ts";

const mebibyte = 1_048_576;

/** A task's peak memory and its container's size: `3.9 GiB of 4 GiB`; undefined where it was not measured. */
export function memoryPeak(task: TaskStatus, roles: readonly RoleStatus[]): string | undefined {
  const asked = memoryOf(task, roles);
  if (!task.maxMemoryBytes) return undefined;
  const peak = sizeWords(task.maxMemoryBytes);
  return asked === undefined ? peak : `${peak} of ${memoryWords(asked)}`;
}

/** The peak use of a task's GPUs: `2, at most 97 % busy`; undefined where none were measured. */
export function gpuPeak({ gpus }: TaskStatus): string | undefined {
  if (gpus === undefined) return undefined;
  const { count, utilization } = gpus;
  return utilization === undefined ? String(count) : `${count}, at most ${Math.round(utilization.max)} % busy`;
}

/** For a whole job: the task that came closest to its memory limit, and the use of its GPUs. */
export function peakWords(job: Pick<JobStatus, "tasks" | "roles" | "search">): string[] {
  const { tasks, roles } = job;
  const share = (task: TaskStatus) =>
    (task.maxMemoryBytes ?? 0) / mebibyte / (memoryOf(task, roles) ?? Number.POSITIVE_INFINITY);
  const [fullest] = tasks.filter((task) => share(task) > 0).sort((a, b) => share(b) - share(a));
  const memory =
    fullest === undefined ? [] : [`memory peak ${memoryPeak(fullest, roles)} (${spokenName(job, fullest.task)})`];
  const gpus = tasks.flatMap((task) => task.gpus ?? []);
  const busy = gpus.flatMap(({ utilization }) => utilization?.max ?? []);
  if (busy.length === 0) return memory;
  const count = gpus.reduce((sum, one) => sum + one.count, 0);
  return [...memory, `${countWords(count, "GPU")}, at most ${Math.round(Math.max(...busy))} % busy`];
}

function memoryOf({ task }: TaskStatus, roles: readonly RoleStatus[]): number | undefined {
  return roles.find(({ name }) => task.startsWith(`${name}:`))?.memoryMiB;
}
