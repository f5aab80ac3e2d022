/** The delays between attempts: each is twice the one before, with jitter, so that many clients that lost one peer do not return together. */
export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/**
 * @param failures in a row so far, at least 1
 * @param random 0 up to, not including, 1
 * @returns milliseconds, between half of the doubled delay and all of it
 */
export function backOffMs({ firstMs, mostMs }: BackOff, failures: number, random: number): number {
  const whole = Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + random / 2));
}
