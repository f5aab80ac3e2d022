import { setTimeout as sleep } from "node:timers/promises";

/** Longer than anything takes, even on a busy machine. */
const limitMs = 180_000;

/**
 * Looks again and again until there is something to return.
 * @param hopeless why waiting longer is useless, as text that becomes part of the error; undefined while it is not
 */
export async function until<Value>(
  what: string,
  look: () => Value | undefined,
  { everyMs = 10, hopeless }: { readonly everyMs?: number; readonly hopeless?: () => string | undefined } = {},
): Promise<Value> {
  const giveUpAtMs = Date.now() + limitMs;
  for (;;) {
    const value = look();
    if (value !== undefined) return value;
    const reason = hopeless?.() ?? (Date.now() > giveUpAtMs ? `${limitMs / 1000} s are over` : undefined);
    if (reason !== undefined) throw new Error(`waited in vain for ${what}: ${reason}`);
    await sleep(everyMs);
  }
}
