import type { JobStatus } from "../job/status.ts";
import { parseTaskId } from "../job/task.ts";

/** Relative to its role's median: a slower task is a straggler. */
export const SLOW_RATE = 0.75;

/**
 * Each task's rate relative to the median of its role; a task whose program has reported no step since its start has none. Where programs wait for
 * each other, all have the rate of the slowest; where each runs independently, the slowest shows. A search's trials are not compared: their speed
 * depends on their parameters.
 */
export function relativeRates(
  { tasks, search }: { readonly tasks: JobStatus["tasks"]; readonly search?: JobStatus["search"] | undefined },
  rateOf: (task: string) => number | undefined,
): Map<string, number> {
  if (search !== undefined) return new Map();
  const rates = tasks.flatMap(({ task, step }) => {
    const rate = step === undefined ? undefined : rateOf(task);
    return rate === undefined ? [] : [{ task, rate, role: parseTaskId(task)?.role ?? "" }];
  });
  const medians = new Map<string, number>();
  for (const role of new Set(rates.map((one) => one.role))) {
    const own = rates.filter((one) => one.role === role).map(({ rate }) => rate);
    medians.set(role, own.sort((a, b) => a - b)[Math.floor(own.length / 2)] ?? 0);
  }
  return new Map(
    rates.flatMap(({ task, rate, role }) => {
      const median = medians.get(role) ?? 0;
      return median > 0 ? [[task, rate / median]] : [];
    }),
  );
}

/** The status with the rate of each running task; rounded to two digits, which hardly change while nothing else does. */
export function withRates(status: JobStatus, rateOf: (task: string) => number | undefined): JobStatus {
  const running = status.tasks.filter(({ state }) => state === "running");
  const rates = relativeRates({ ...status, tasks: running }, rateOf);
  if (rates.size === 0) return status;
  const tasks = status.tasks.map((task) => {
    const rate = rates.get(task.task);
    return rate === undefined ? task : { ...task, rate: Math.round(rate * 100) / 100 };
  });
  return { ...status, tasks };
}
