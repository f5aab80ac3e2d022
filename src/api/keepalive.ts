/** Pings detect half-open connections. */
export const KEEPALIVE_INTERVAL_MS = 10_000;
export const KEEPALIVE_TIMEOUT_MS = 5_000;
/** The longest time between the loss of a peer and the end of its stream. */
export const LONGEST_UNNOTICED_MS = KEEPALIVE_INTERVAL_MS + KEEPALIVE_TIMEOUT_MS;
