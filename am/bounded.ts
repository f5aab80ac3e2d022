import { TonyError } from "../src/errors.ts";
import { within } from "../src/hadoop/clock.ts";

/**
 * Waits for the work, but no longer than the limit. Rejects with a TonyError with code `TIMEOUT`; the work itself goes on.
 */
export async function inTime(limitMs: number, what: string, work: Promise<unknown>): Promise<void> {
  if (await within(limitMs, work)) return;
  throw new TonyError(`${what} took longer than ${limitMs / 1000} s`, { code: "TIMEOUT", retryable: true });
}
