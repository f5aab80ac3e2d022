import type { Timeouts } from "./spec.ts";

type Beats = Pick<Timeouts, "heartbeatIntervalMs" | "heartbeatExpiryMs">;

/** What an executor may need beyond the program's grace to stop it. */
export const STOP_MARGIN_MS = 5_000;
/** Beats that an executor may miss before it counts as silent. */
const MISSED_BEATS = 3;
/** What was sent before may still lie in the mailbox. */
const MAILBOX_MS = 2_000;

/** How long nothing is heard of an executor before it counts as silent. */
export function silentAfterMs({ heartbeatIntervalMs, heartbeatExpiryMs }: Beats): number {
  return Math.min(MISSED_BEATS * heartbeatIntervalMs, heartbeatExpiryMs);
}

/** By when an executor that is gone is known to be silent. */
export function silenceNoticedMs(timeouts: Beats): number {
  return silentAfterMs(timeouts) + MAILBOX_MS;
}

/** How long an executor may take to stop a program. Whether one that did not was silent decides what it is charged with: it is known by then. */
export function stopWithinMs(timeouts: Beats & Pick<Timeouts, "stopGraceMs">): number {
  return timeouts.stopGraceMs + Math.max(STOP_MARGIN_MS, silenceNoticedMs(timeouts));
}
