import type { Resource } from "../../../src/job/spec.ts";
import type { CountedResources } from "../state/events.ts";

/** What of an ask the scheduler weighs against a node or a queue: of the rest, cores above all, it gives out what there is not. */
export function countedPart(ask: Resource, counted: CountedResources): Resource {
  if (counted === "all") return ask;
  return { memoryMiB: ask.memoryMiB, vcores: 0, others: counted === "memory" ? {} : ask.others };
}
