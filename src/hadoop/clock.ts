/** Time and chance, passed in so that tests decide both. */
export interface Clock {
  /** Milliseconds that never run backwards; only differences mean something. */
  nowMs(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The machine's own. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  sleep,
};

/**
 * Resolves after the delay, or at once when the signal is aborted.
 * @param options `ref: false`: the process may end meanwhile
 */
export function sleep(
  delayMs: number,
  signal?: AbortSignal,
  { ref = true }: { readonly ref?: boolean } = {},
): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    if (!ref) timer.unref();
    signal?.addEventListener("abort", done, { once: true });
  });
}

/**
 * Waits for work, but not longer than that; the work itself goes on.
 * @returns whether it was done in time
 * @throws what the work throws in that time
 */
export async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, limitMs, false);
  });
  try {
    return await Promise.race([work.then(() => true), limit]);
  } finally {
    clearTimeout(timer);
  }
}
