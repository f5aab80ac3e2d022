import { beginTermination, noteSilence } from "../containers/containers.ts";
import { unheardEnding } from "../failures/endings.ts";
import { containerGone, taskGone } from "../failures/losses.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitNoMore, awaitOf, returnEndsAtMs } from "../state/deadlines.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";

/**
 * Overdue executors are looked at together, once in this time, to see whether others are unheard as well: when the others are back, the one
 * that is not gets no more time.
 */
const LOOK_AGAIN_MS = 1_000;

/** An executor misses heartbeats, or is heard again. */
export function executorHeard(step: Step, event: Extract<Event, { type: "executor-silent" | "executor-back" }>): void {
  const container = step.state.containers[event.containerId];
  if (container?.link !== "up") {
    return;
  }
  step.changed = true;
  if (event.type === "executor-back") {
    noteSilence(step, container, undefined);
    awaitNoMore(container, "heartbeat");
    return;
  }
  noteSilence(step, container, event.silentMs);
  awaitOf(step, container, "heartbeat", step.spec.timeouts.heartbeatExpiryMs - event.silentMs);
}

/** The time for a silence is over; it is longer while many executors are not heard. */
export function silenceOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const { heartbeatExpiryMs, massSilenceMs } = step.spec.timeouts;
  const patienceMs = areManyUnheard(step) ? massSilenceMs : heartbeatExpiryMs;
  const leftMs = container.lastHeardMs + patienceMs - step.nowMs;
  if (leftMs > 0) {
    awaitOf(step, container, "heartbeat", Math.min(leftMs, LOOK_AGAIN_MS - (step.nowMs % LOOK_AGAIN_MS)));
    return;
  }
  const facts = { code: "executor-silent", silentMs: heartbeatExpiryMs } as const;
  containerGone(step, container, unheardEnding(step, task, container, facts), "its executor is silent");
}

/**
 * An executor whose stream broke must be back in its time. Where many are not heard the time counts from when it was last heard, because a node
 * that is cut off falls silent before its streams break. After a takeover, or a pause of this process, all executors connect at once: one that
 * gave up before it was welcomed tries again, after a pause of its own.
 */
export function reconnectOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const unheardFromMs = container.silent ? container.lastHeardMs : container.brokenAtMs;
  const patienceEndsAtMs = areManyUnheard(step)
    ? unheardFromMs + step.spec.timeouts.massSilenceMs
    : container.brokenAtMs + Bounds.reconnectMs;
  const endsAtMs = Math.max(patienceEndsAtMs, returnEndsAtMs(step.state));
  if (step.nowMs < endsAtMs) {
    awaitOf(step, container, "reconnect", endsAtMs - step.nowMs);
    return;
  }
  const ending = unheardEnding(step, task, container, { code: "executor-vanished" });
  beginTermination(step, container, "its stream broke", true);
  taskGone(step, task, ending);
}

/** More than a third of the executors, and at least two, are silent or have broken streams: the network is the likelier cause. */
function areManyUnheard({ state: { heard, unheard } }: Step): boolean {
  return unheard >= 2 && unheard * 3 > heard + unheard;
}
