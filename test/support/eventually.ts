import { setTimeout as sleep } from "node:timers/promises";

/**
 * Looks again and again until it sees something; for what can only be polled.
 * @param what what is awaited, for the message when the time is over
 * @param look `undefined` or `false` while there is nothing
 * @param waitMs generous, because machines under test are slow
 * @param lookAgainMs longer where a look adds to what is measured
 */
export async function eventually<Seen>(
  what: string,
  look: () => Seen | false | undefined | Promise<Seen | false | undefined>,
  waitMs = 120_000,
  lookAgainMs = 25,
): Promise<Seen> {
  const giveUpAt = performance.now() + waitMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > giveUpAt) throw new Error(`waited ${waitMs / 1000} s for ${what}`);
    await sleep(lookAgainMs);
  }
}
