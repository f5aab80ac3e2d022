/** What time it is, passed in so that tests decide it. */
export interface WallClock {
  /** Milliseconds since the epoch, whole, and never less than before: a stepped system clock ends no wait early. */
  nowMs(): number;
  /** Makes the call once, after the delay. @returns cancels the call */
  after(delayMs: number, call: () => void): () => void;
}

/** How much time passes, and chance, passed in so that tests decide both. */
export interface MonotonicClock {
  /** Milliseconds that never run backwards; only differences mean something. */
  nowMs(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The machine's own. */
export const wallClock: WallClock = {
  nowMs: () => Math.floor(performance.timeOrigin + performance.now()),
  after: callAfter,
};

/** The machine's own. */
export const monotonicClock: MonotonicClock = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  sleep,
};

/** The longest delay that `setTimeout` takes, 24.8 days; beyond it, it fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Makes the call once, after the delay, however long that is. @returns cancels the call */
export function callAfter(delayMs: number, call: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = (remainingMs: number): void => {
    const nextMs = Math.min(remainingMs, LONGEST_TIMER_MS);
    timer = setTimeout(() => (remainingMs > nextMs ? wait(remainingMs - nextMs) : call()), nextMs);
  };
  wait(delayMs);
  return () => clearTimeout(timer);
}

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
