import { setLink } from "../containers/containers.ts";
import { linkEnding } from "../failures/endings.ts";
import { containerGone, executorLeft } from "../failures/losses.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { Event } from "../state/events.ts";
import { type Step, tenantOf } from "../state/step.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** A broken stream may be a short matter of the network; silence and goodbye are not. */
export function executorLost(step: Step, event: Of<"executor-lost">): void {
  const container = step.state.containers[event.containerId];
  const task = container === undefined ? undefined : tenantOf(step, container);
  // The executor that made way for the present one in the same container says goodbye as well.
  if (container === undefined || task === undefined || task.id !== event.task) {
    return;
  }
  if (event.cause === "stream-broken") {
    if (container.link === "up") {
      setLink(step, container, "broken");
      awaitOf(step, container, "reconnect", Bounds.reconnectMs);
    }
    return;
  }
  if (event.cause === "goodbye") {
    executorLeft(step, container, task);
    return;
  }
  const facts = { code: "executor-silent", silentMs: step.spec.timeouts.heartbeatExpiryMs } as const;
  containerGone(step, container, linkEnding(step, task, container, facts), "its executor is silent");
}

/** An executor misses heartbeats, or is heard again. */
export function executorHeard(step: Step, event: Of<"executor-silent" | "executor-back">): void {
  const container = step.state.containers[event.containerId];
  if (container !== undefined) {
    container.silent = event.type === "executor-silent";
    container.lastHeardMs = event.type === "executor-silent" ? step.nowMs - event.silentMs : 0;
    step.changed = true;
  }
}
