import type { JobStatus } from "../job/status.ts";
import { parseTaskId } from "../job/task.ts";

/** Of its role's median: what is slower than that is a straggler. */
export const SLOW_RATE = 0.75;

/**
 * How fast each task goes against the median of its role; one whose program has reported no step since it began does not go. In a job whose programs wait for each other the slowest is not seen by its rate; where each goes on alone it is.
 * A search's are not compared: a trial is quick or slow by its parameters.
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

/** The status with how fast each task goes whose program runs; in two digits: those hardly change where nothing does. */
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
