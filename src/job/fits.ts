import type { Resource } from "../hadoop/yarn/records.ts";

/** Whether an amount is within a limit; a type that the limit does not name has a limit of 0. */
export function fits(asked: Resource, limit: Resource): boolean {
  const others = Object.entries(asked.others).every(([type, amount]) => amount <= (limit.others[type] ?? 0));
  return asked.memoryMiB <= limit.memoryMiB && asked.vcores <= limit.vcores && others;
}

/** How many requests of this size an amount has room for; types that the request does not need are ignored. */
export function roomFor(ask: Resource, free: Resource): number {
  const rooms = [Math.floor(free.memoryMiB / Math.max(1, ask.memoryMiB))];
  if (ask.vcores > 0) {
    rooms.push(Math.floor(free.vcores / ask.vcores));
  }
  for (const [type, amount] of Object.entries(ask.others)) {
    if (amount > 0) {
      rooms.push(Math.floor((free.others[type] ?? 0) / amount));
    }
  }
  return Math.max(0, Math.min(...rooms));
}
