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
 * When each executor was last heard: one that misses three heartbeats is silent. `silence.ts` decides what follows from that. Pure: every
 * call passes the time in.
 */
export interface Liveness {
  /** Something came from the executor; it is watched from now on. */
  heard(task: string, containerId: string, nowMs: number): LivenessEvent[];
  /** The executor is not watched any more. */
  forget(containerId: string): void;
  /** Silence is reported from now on. Executors may have connected while this attempt still read its journal. */
  begin(nowMs: number): void;
  /** This process stood still for `gapMs`: hearing nothing meanwhile says nothing about executors. */
  stoodStill(gapMs: number, nowMs: number): void;
  /** To be called every `LIVENESS_TICK_MS`. */
  tick(nowMs: number): LivenessEvent[];
}

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
        // Messages of the pause may have been read before the pause was noticed.
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
