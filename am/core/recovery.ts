import { beginJob } from "./begin.ts";
import { addContainer, discard } from "./containers.ts";
import type { Event } from "./events.ts";
import { log, type Step } from "./step.ts";

/** A later attempt begins. */
export function recovered(step: Step, event: Extract<Event, { type: "recovered" }>): void {
  for (const kept of event.keptContainers) {
    discard(step, addContainer(step, kept, kept.priority - 1), "it belongs to an attempt that left no journal");
  }
  log(
    step,
    "warn",
    "recovery-impossible",
    "The earlier attempt left no journal that can be read: the job starts again.",
  );
  beginJob(step);
}
