import type { Timeouts } from "./spec.ts";

type Beats = Pick<Timeouts, "heartbeatIntervalMs" | "heartbeatExpiryMs">;

/** The time that an executor may need to stop a program, beyond the program's grace period. */
export const STOP_MARGIN_MS = 5_000;
/** How many heartbeats an executor may miss before it counts as silent. */
const MISSED_BEATS = 3;
/** Messages sent earlier may still be in the mailbox. */
const MAILBOX_MS = 2_000;

/** How long an executor may send nothing before it counts as silent. */
export function silentAfterMs({ heartbeatIntervalMs, heartbeatExpiryMs }: Beats): number {
  return Math.min(MISSED_BEATS * heartbeatIntervalMs, heartbeatExpiryMs);
}

/** The time within which the silence of a lost executor is noticed. */
export function silenceNoticedMs(timeouts: Beats): number {
  return silentAfterMs(timeouts) + MAILBOX_MS;
}

/** How long an executor may take to stop a program. The charge for one that did not depends on whether it was silent: by then that is known. */
export function stopWithinMs(timeouts: Beats & Pick<Timeouts, "stopGraceMs">): number {
  return timeouts.stopGraceMs + Math.max(STOP_MARGIN_MS, silenceNoticedMs(timeouts));
}
