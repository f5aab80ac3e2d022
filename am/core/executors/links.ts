import { moveLink } from "../containers/containers.ts";
import { executorEnded } from "../failures/losses.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { Event } from "../state/events.ts";
import { type Step, tenantOf } from "../state/step.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** A broken stream may be a brief network fault; a goodbye is final. */
export function executorLost(step: Step, event: Of<"executor-lost">): void {
  const container = step.state.containers[event.containerId];
  const task = container === undefined ? undefined : tenantOf(step, container);
  // The executor that made way for the present one in the same container says goodbye as well.
  if (container === undefined || task === undefined || task.id !== event.task) {
    return;
  }
  if (event.cause === "stream-broken") {
    if (container.link === "up") {
      moveLink(step, container, "stream-broken");
      awaitOf(step, container, "reconnect", Bounds.reconnectMs);
    }
    return;
  }
  executorEnded(step, container, task);
}
