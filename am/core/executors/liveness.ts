import { silentAfterMs } from "../../../src/job/silence.ts";
import type { Timeouts } from "../../../src/job/spec.ts";
import type { Event } from "../state/events.ts";

export type LivenessEvent = Extract<Event, { type: "executor-silent" | "executor-back" }>;

interface Heard {
  readonly task: string;
  lastMs: number;
  silent: boolean;
}

/**
 * Who was heard when: an executor that misses three beats is silent. What follows from that is decided in `silence.ts`. Pure: the time comes
 * in with every call.
 */
export interface Liveness {
  /** Something came from the executor; it is watched from now on. */
  heard(task: string, containerId: string, nowMs: number): LivenessEvent[];
  /** It is not to be watched any more. */
  forget(containerId: string): void;
  /** From now on it is told who is silent. Executors may have found an attempt that still read its journal. */
  begin(nowMs: number): void;
  /** We ourselves stood still for so long: what was not heard then says nothing about executors. */
  stoodStill(gapMs: number, nowMs: number): void;
  /** To be called every `LIVENESS_TICK_MS`. */
  tick(nowMs: number): LivenessEvent[];
}

/** How often `tick` is to be called. */
export const LIVENESS_TICK_MS = 250;

export function createLiveness(timeouts: Pick<Timeouts, "heartbeatIntervalMs" | "heartbeatExpiryMs">): Liveness {
  const executors = new Map<string, Heard>();
  const silentMs = silentAfterMs(timeouts);
  return {
    heard(task, containerId, nowMs) {
      const executor = executors.get(containerId);
      if (executor === undefined) {
        executors.set(containerId, { task, lastMs: nowMs, silent: false });
        return [];
      }
      executor.lastMs = nowMs;
      if (!executor.silent) {
        return [];
      }
      executor.silent = false;
      return [{ type: "executor-back", task, containerId }];
    },
    forget(containerId) {
      executors.delete(containerId);
    },
    begin(nowMs) {
      for (const executor of executors.values()) {
        executor.lastMs = nowMs;
      }
    },
    stoodStill(gapMs, nowMs) {
      for (const executor of executors.values()) {
        // What came during the pause may have been read before it was noticed.
        executor.lastMs = Math.min(executor.lastMs + gapMs, nowMs);
      }
    },
    tick(nowMs) {
      const events: LivenessEvent[] = [];
      for (const [containerId, executor] of executors) {
        const unheardMs = nowMs - executor.lastMs;
        if (unheardMs >= silentMs && !executor.silent) {
          executor.silent = true;
          events.push({ type: "executor-silent", task: executor.task, containerId, silentMs: unheardMs });
        }
      }
      return events;
    },
  };
}
