/** The current time, passed in so that tests control it. */
export interface WallClock {
  /** Milliseconds since the epoch, an integer that never decreases: a stepped system clock does not end a wait early. */
  nowMs(): number;
  /** Calls the function once, after the delay. @returns a function that cancels the call */
  after(delayMs: number, call: () => void): () => void;
}

/** Elapsed time and randomness, passed in so that tests control both. */
export interface MonotonicClock {
  /** Milliseconds that never run backwards; only differences mean something. */
  nowMs(): number;
  /** Resolves after the delay, or at once when the signal is aborted. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The machine's own clock. */
export const wallClock: WallClock = {
  nowMs: () => Math.floor(performance.timeOrigin + performance.now()),
  after: callAfter,
};

/** The machine's own clock. */
export const monotonicClock: MonotonicClock = {
  nowMs: () => performance.now(),
  random: () => Math.random(),
  sleep,
};

/** The longest delay that `setTimeout` accepts, 24.8 days; with a longer one it fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Calls the function once, after the delay, however long that is. @returns a function that cancels the call */
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
 * @param options `ref: false`: the wait does not keep the process alive
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
 * Waits for work, but no longer than the limit; the work itself continues.
 * @returns whether it finished in time
 * @throws what the work throws within the limit
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
