import type { Event } from "../state/events.ts";
import type { Step } from "../state/step.ts";

/** What is understood without knowing the job. */
const UNDERSTOOD: ReadonlySet<Event["type"]> = new Set([
  "am-registered",
  "recovered",
  "nodes-changed",
  "headroom-changed",
  "wake-up",
  "resource-manager-shutdown",
] satisfies Event["type"][]);

/**
 * Whether an event comes before a later attempt has read what the one before left. Executors may find it and YARN may tell of ends while
 * the journal is being read, or cannot be: taken at once, they would concern containers that nobody knows yet.
 */
export function isEarly(step: Step, { type }: Event): boolean {
  return awaitsJournal(step) && !UNDERSTOOD.has(type);
}

/** Whether a later attempt has yet to read what the one before left. */
export function awaitsJournal({ state, identity }: Step): boolean {
  return identity.attempt > 1 && state.phase === "starting";
}
