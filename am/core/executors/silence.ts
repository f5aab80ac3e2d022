import { beginTermination, noteSilence } from "../containers/containers.ts";
import { unheardEnding } from "../failures/endings.ts";
import { containerGone, taskGone } from "../failures/losses.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitNoMore, awaitOf, takeoverEndsAtMs } from "../state/deadlines.ts";
import type { Event } from "../state/events.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import type { Step } from "../state/step.ts";

/**
 * Whether others are unheard as well is looked at once in so long, for all together: when they are back, the one that is not has no more
 * time.
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

/** Silence is awaited to end in its time, which is over by now; for longer while many are not heard. */
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
 * An executor whose stream broke is back in its time. Where many are not heard that counts from when it was last heard, for a node that is
 * cut off is silent before its streams break. After a takeover all executors come at once: one that gave up before it was welcomed tries again.
 */
export function reconnectOverdue(step: Step, container: ContainerRecord, task: TaskRecord): void {
  const unheardFromMs = container.silent ? container.lastHeardMs : container.brokenAtMs;
  const patienceEndsAtMs = areManyUnheard(step)
    ? unheardFromMs + step.spec.timeouts.massSilenceMs
    : container.brokenAtMs + Bounds.reconnectMs;
  const endsAtMs = Math.max(patienceEndsAtMs, takeoverEndsAtMs(step));
  if (step.nowMs < endsAtMs) {
    awaitOf(step, container, "reconnect", endsAtMs - step.nowMs);
    return;
  }
  const ending = unheardEnding(step, task, container, { code: "executor-vanished" });
  beginTermination(step, container, "its stream broke", true);
  taskGone(step, task, ending);
}

/** More than a third of the executors, two at least, are silent or their streams broken: the network is the likelier cause. */
function areManyUnheard({ state: { heard, unheard } }: Step): boolean {
  return unheard >= 2 && unheard * 3 > heard + unheard;
}
