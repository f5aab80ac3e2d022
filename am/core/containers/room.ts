import type { Resource } from "../../../src/job/spec.ts";
import type { CountedResources } from "../state/events.ts";

/** What of an ask the scheduler weighs against a node or a queue: of the rest, cores above all, it gives out what there is not. */
export function countedPart(ask: Resource, counted: CountedResources): Resource {
  return counted === "all" ? ask : { memoryMiB: ask.memoryMiB, vcores: 0, others: {} };
}

/** How many such asks go into an amount; what an ask wants nothing of does not matter. */
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
