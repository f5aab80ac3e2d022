import { silentAfterMs } from "../executors/liveness.ts";
import { emit, type Step } from "./step.ts";

/** Bounds that no key sets: each is honest work of ours, seconds where it is healthy. */
export const Bounds = {
  /** A broken stream's executor comes back at once or not at all. */
  reconnectMs: 2_000,
  /** From `prepare` to its registration, beyond the program's own grace. */
  prepareMs: 30_000,
  /** From the cluster spec to the program's start. */
  startMs: 60_000,
  /** What an executor may need beyond the program's grace to stop it. */
  stopMarginMs: 5_000,
  /** What an executor gives a hanging program to write where it stands. */
  stackDumpMs: 2_000,
  /** An outcome that cannot be written down is carried out all the same. */
  outcomeJournalMs: 5_000,
  /** YARN's word on a program that was killed, when its container is ending too: beyond two heartbeats of its node. */
  wordMs: 2_000,
  /** A program that ends badly so soon after YARN's wish for its container ended because of it; sites grant 15 s by default. */
  preemptionMs: 120_000,
  /** Kept executors come back to a later attempt: they look for it every 2 to 30 s. */
  rejoinMs: 45_000,
  journalSpacingMs: 200,
  journalRetryMs: 1_000,
} as const;

const ORDERS = [
  "launch",
  "registration",
  "reconnect",
  "prepare",
  "start",
  "execution",
  "progress",
  "hung",
  "rejoin",
  "leave",
  "word",
] as const;
export type Order = (typeof ORDERS)[number];

export function setOrder(step: Step, order: Order, containerId: string, delayMs: number): void {
  setTimer(step, `${order}:${containerId}`, delayMs);
}

export function clearOrder(step: Step, order: Order, containerId: string): void {
  emit(step, { type: "clear-timer", name: `${order}:${containerId}` });
}

export function hasOrder(step: Step, order: Order, containerId: string): boolean {
  return step.timers.has(`${order}:${containerId}`);
}

/** It is not due any more. */
export function clearTimer(step: Step, name: string): void {
  step.timers.delete(name);
  emit(step, { type: "clear-timer", name });
}

/** Nothing is awaited of this container any more. Its timers may fire late all the same: they find it discarded. */
export function expireOrders(step: Step, containerId: string): void {
  clearOrder(step, "launch", containerId);
}

export function isOrder(name: string): name is Order {
  return ORDERS.some((order) => order === name);
}

/** The only way a timer is set: when it is due is kept, so that one that comes late is known to be late. */
export function setTimer(step: Step, name: string, delayMs: number): void {
  step.timers.set(name, { setAtMs: step.nowMs, dueMs: step.nowMs + delayMs });
  emit(step, { type: "set-timer", name, delayMs });
}

/** Beyond this lateness of a timer we were paused ourselves. */
const OVERSLEPT_MS = 2_000;
/** What was waited for may lie in the mailbox behind the timer, or not be there because its executor is gone: beyond the time that takes to notice. */
const AFTER_SLEEP_MS = 2_000;

/**
 * Whether a timer that fired is due. One that fires late, because this ApplicationMaster was paused, blames nobody: it is set once more. So
 * is one that was set before the pause and fell due as it ended: nobody listened for it either. And one whose firing waited in the mailbox
 * behind what set it anew has the rest of its time.
 */
export function isDue(step: Step, name: string): boolean {
  const timer = step.timers.get(name);
  if (timer === undefined) {
    return false;
  }
  const { setAtMs, dueMs } = timer;
  if (step.nowMs - dueMs >= OVERSLEPT_MS) {
    step.wokeAtMs = step.nowMs;
  }
  const sleptOver = setAtMs < step.wokeAtMs;
  const readAtMs = step.wokeAtMs + silentAfterMs(step.spec.timeouts) + AFTER_SLEEP_MS;
  const leftMs = (sleptOver ? Math.max(dueMs, readAtMs) : dueMs) - step.nowMs;
  step.timers.delete(name);
  if (leftMs > 0) {
    setTimer(step, name, leftMs);
  }
  return leftMs <= 0;
}
