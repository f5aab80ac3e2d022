import type { Resource } from "../hadoop/yarn/records.ts";

/** Whether an amount is within a limit; there is nothing of a type that the limit does not name. */
export function fits(asked: Resource, limit: Resource): boolean {
  const others = Object.entries(asked.others).every(([type, amount]) => amount <= (limit.others[type] ?? 0));
  return asked.memoryMiB <= limit.memoryMiB && asked.vcores <= limit.vcores && others;
}
