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
  /** An outcome that cannot be written down is carried out all the same. */
  outcomeJournalMs: 5_000,
  /** Kept executors come back to a later attempt: they look for it every 2 to 30 s. */
  rejoinMs: 45_000,
  journalSpacingMs: 200,
  journalRetryMs: 1_000,
} as const;

const ORDERS = ["launch", "registration", "reconnect", "prepare", "start", "execution"] as const;
export type Order = (typeof ORDERS)[number];

export function setOrder(step: Step, order: Order, containerId: string, delayMs: number): void {
  emit(step, { type: "set-timer", name: `${order}:${containerId}`, delayMs });
}

export function clearOrder(step: Step, order: Order, containerId: string): void {
  emit(step, { type: "clear-timer", name: `${order}:${containerId}` });
}

/** Nothing is awaited of this container any more. Its timers may fire late all the same: they find it discarded. */
export function expireOrders(step: Step, containerId: string): void {
  clearOrder(step, "launch", containerId);
}

export function isOrder(name: string): name is Order {
  return ORDERS.some((order) => order === name);
}
