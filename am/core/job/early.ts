import type { Event } from "../state/events.ts";
import type { Step } from "../state/step.ts";

/** Events that can be handled without knowing the job. */
const UNDERSTOOD: ReadonlySet<Event["type"]> = new Set([
  "am-registered",
  "recovered",
  "nodes-changed",
  "headroom-changed",
  "wake-up",
  "resource-manager-shutdown",
] satisfies Event["type"][]);

/**
 * Whether an event comes before a later attempt has read what the earlier one left. While the journal is being read, or cannot be read,
 * executors may connect and YARN may report ends: handled at once, these events would concern containers that are not known yet.
 */
export function isEarly(step: Step, { type }: Event): boolean {
  return awaitsJournal(step) && !UNDERSTOOD.has(type);
}

/** Whether a later attempt has yet to read what the earlier one left. */
export function awaitsJournal({ state, identity }: Step): boolean {
  return identity.attempt > 1 && state.phase === "starting";
}
